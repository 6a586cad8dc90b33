#include "trace/evidence.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "core/program.h"
#include "trace/show_to_grader.h"

namespace odori::evidence {
namespace {

void write_failure(const std::string& sentence, int code) { write(facts::Failure{sentence, code}); }

/// What is to run in this process has no use for the name.
std::string take_name() {
  char* const variable = std::getenv("ODORI_EVIDENCE");
  if (!variable || !*variable) return {};
  std::string name = variable;
  std::fill_n(variable, name.size(), '\0');
  ::unsetenv("ODORI_EVIDENCE");
  set_failure_listener(write_failure);
  return name;
}

// The process's one record, as the event stream is: reachable from everywhere without being passed along.
std::string name = take_name();
const bool wanted = !name.empty();
int rank_of_process = 0;
thread_local int collective_depth = 0, learners_depth = 0;  // learners' own calls are made at learners_depth
bool mark_waits = false;                                    // the blanks were passed, and no fact has come since
std::mutex mutex;

std::span<std::byte> map_file() {
  const int file = ::open(fmt::format("{}.{}", name, rank_of_process).c_str(), O_RDWR | O_CLOEXEC);
  std::fill(name.begin(), name.end(), '\0');
  if (file < 0) return {};
  struct stat status {};
  const bool fits = ::fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(head_bytes);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = fits ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (memory == MAP_FAILED) return {};
  ::madvise(memory, size, MADV_DONTFORK);  // what a child process does is no fact of this one
  return {static_cast<std::byte*>(memory), size};
}

/// Empty if there is none: what can't be written is missed by the grader, not by the training.
std::span<std::byte> file() {
  static const std::span<std::byte> mapped = map_file();
  return mapped;
}

/// Unmaps the full pages between the head and `end`.
void seal(std::span<std::byte> all, std::size_t end) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  static std::size_t sealed = head_bytes;
  end -= end % page;
  if (end <= sealed) return;
  ::munmap(all.data() + sealed, end - sealed);
  sealed = end;
}

/// Under the lock.
void append_line(const std::string& line, std::span<const std::byte> numbers) {
  const std::span<std::byte> all = file();
  if (all.empty()) return;
  const std::atomic_ref<std::uint64_t> written(*reinterpret_cast<std::uint64_t*>(all.data()));
  const std::size_t room = all.size() - head_bytes, at = written.load(), bytes = line.size() + numbers.size();
  if (at > room || bytes > room - at) {
    written = room + 1;
    return;
  }
  std::byte* const to = all.data() + head_bytes + at;
  std::memcpy(to, line.data(), line.size());
  if (!numbers.empty()) std::memcpy(to + line.size(), numbers.data(), numbers.size());
  written = at + bytes;
  seal(all, head_bytes + at + bytes);
}

std::string line_of(const char* fact, const trace::Args& args) {
  const std::string& more = args.json();
  return fmt::format("{{\"fact\":\"{}\"{}{}}}\n", fact, more.empty() ? "" : ",", more);
}

void append(const std::string& line, std::span<const std::byte> numbers) {
  const std::lock_guard lock(mutex);
  // Not before there is something to mark: the first fact opens the file, and only MPI tells whose it is.
  if (std::exchange(mark_waits, false)) append_line(line_of(facts::BlanksPassed::fact, {}), {});
  append_line(line, numbers);
}

}  // namespace

bool on() noexcept { return wanted; }

void set_rank(int rank) noexcept {
  if (!on()) return;
  rank_of_process = rank;
  const std::lock_guard lock(mutex);
  file();
}

void detail::write_line(const char* fact, const trace::Args& args) {
  if (on()) append(line_of(fact, args), {});
}

void detail::write_line(const char* fact, const trace::Args& args, std::span<const float> numbers) {
  if (!on()) return;
  trace::Args more = args;
  append(line_of(fact, more.add("numbers", static_cast<std::int64_t>(numbers.size()))), std::as_bytes(numbers));
}

Collective::Collective(const char* name) noexcept : name_(name) {
  if (on() && collective_depth++ == learners_depth) write(facts::Enter{name_});
}

Collective::~Collective() {
  if (on() && --collective_depth == learners_depth) write(facts::Leave{name_});
}

Message::Message(const char* call, int to, std::size_t sent, int from, std::size_t received)
    : is_fact_(on() && collective_depth == learners_depth), exceptions_(std::uncaught_exceptions()) {
  if (!is_fact_) return;
  write(facts::Message{.call = call,
                       .to = to,
                       .sent = static_cast<std::int64_t>(sent),
                       .from = from,
                       .received = static_cast<std::int64_t>(received)});
}

Message::~Message() {
  if (is_fact_ && std::uncaught_exceptions() == exceptions_) write(facts::MessageDone{});
}

OwnAlgorithm::OwnAlgorithm() noexcept : outer_(std::exchange(learners_depth, collective_depth)) {}

OwnAlgorithm::~OwnAlgorithm() { learners_depth = outer_; }

void pass_blanks() {
  const std::lock_guard lock(mutex);
  mark_waits = true;
}

}  // namespace odori::evidence

namespace odori {

void show_to_grader(std::span<const float> values) {
  evidence::write(facts::Values{static_cast<std::int64_t>(values.size())}, values);
}

void show_to_grader(const std::string& event, const std::vector<std::int64_t>& about) {
  evidence::write(facts::Event{event, about});
}

}  // namespace odori
