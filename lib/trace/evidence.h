// What a run really did, for the grader: which devices, which images, which weights. Facts only, as they are met,
// even if a check refuses them a moment later; the grader judges.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "trace/facts.h"
#include "trace/trace.h"

namespace odori::evidence {

/// Does $ODORI_EVIDENCE name files to write into: NAME.RANK, which are there, of zeros, and as large as they may get?
/// One load of a flag: all that it costs otherwise. The variable is taken out of the environment at the start.
bool on() noexcept;
/// Facts are of this rank, and its file is opened; 0 where nobody says so before the first fact.
void set_rank(int rank) noexcept;

/// A rank's file: how many bytes follow its head (a std::uint64_t, in this machine's order; more than there is room for
/// if something found none), then lines. The file is mapped, and has no descriptor; the number is set last, so that a
/// kill leaves what came before it readable. Pages that are full are unmapped at once: what
/// stands there, no code of this process can change.
inline constexpr std::size_t head_bytes = 65536;  // a whole page, however large pages are

namespace detail {
void write_line(const char* fact, const trace::Args& args);
void write_line(const char* fact, const trace::Args& args, std::span<const float> numbers);
}  // namespace detail

/// A fact of trace/facts.h, in a line: {"fact":"use_device","device":1}. Does nothing unless on(); what takes time to
/// gather is gathered if on(). Numbers follow the line as they are in memory, and it says how many ("numbers").
template <typename Fact>
concept IsFact = std::is_convertible_v<decltype(Fact::fact), const char*>;
void write(const IsFact auto& fact) {
  if (on()) detail::write_line(fact.fact, facts::args_of(fact));
}
void write(const IsFact auto& fact, std::span<const float> numbers) {
  if (on()) detail::write_line(fact.fact, facts::args_of(fact), numbers);
}

/// A call that all ranks have to make, entered now and left when this object goes. Of nested ones those count that
/// learners called: the outermost, and those of an algorithm of theirs within it. `name` must outlive it.
class Collective {
 public:
  explicit Collective(const char* name) noexcept;
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

 private:
  const char* name_;
};

/// A message of a rank, begun now and ended when this object goes: "message" and, unless an exception passes,
/// "message_done". Those that the library sends in a collective of its own are no facts.
class Message {
 public:
  /// What is `sent`, a number of floats, goes `to` a rank, and what is `received` comes `from` one; -1 where there is
  /// none.
  Message(const char* call, int to, std::size_t sent, int from, std::size_t received);
  ~Message();
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

 private:
  bool is_fact_;
  int exceptions_;
};

/// While this object lives, a collective runs an algorithm that learners wrote: its messages and collectives are facts.
class OwnAlgorithm {
 public:
  OwnAlgorithm() noexcept;
  ~OwnAlgorithm();
  OwnAlgorithm(const OwnAlgorithm&) = delete;
  OwnAlgorithm& operator=(const OwnAlgorithm&) = delete;

 private:
  int outer_;
};

/// All blanks are behind the program: called in the programs that the grader builds, by the kit's own text.
void pass_blanks();

}  // namespace odori::evidence
