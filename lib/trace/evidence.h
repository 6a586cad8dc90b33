// What a run really did, for the grader: which devices, which pictures, which weights. Facts only, as they are met,
// even if a check refuses them a moment later; the grader judges.
#pragma once

#include <span>

#include "trace/trace.h"

namespace odori::evidence {

/// Does $ODORI_EVIDENCE name a folder to write into? One load of a pointer: all that it costs otherwise.
bool on() noexcept;
/// Facts from here on are of this rank; 0 where nobody says so.
void set_rank(int rank) noexcept;

/// A line of FOLDER/RANK.jsonl: {"fact":"use_device","device":1}. Written with one system call, so that a kill leaves
/// what came before it readable. Does nothing unless on().
void write(const char* fact, const trace::Args& args = {});
/// The same with many numbers: they go to the end of FOLDER/RANK.bin as they are in memory, and the line says how many
/// ("numbers"), and from which byte ("at").
void write(const char* fact, const trace::Args& args, std::span<const float> numbers);

/// A call that all ranks have to make, entered now and left when this object goes. Of nested ones the outermost
/// counts: the one that learners called. `name` must outlive it.
class Collective {
 public:
  explicit Collective(const char* name) noexcept;
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

 private:
  const char* name_;
};

}  // namespace odori::evidence
