#include "trace/evidence.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "core/program.h"

namespace odori::evidence {
namespace {

void write_failure(const std::string& sentence, int code) {
  write("failure", trace::Args().add("sentence", sentence).add("code", code));
}

const char* folder_asked_for() {
  const char* variable = std::getenv("ODORI_EVIDENCE");
  if (!variable || !*variable) return nullptr;
  set_failure_listener(write_failure);
  return variable;
}

// The process's one record, as the event stream is: reachable from everywhere without being passed along.
const char* const folder = folder_asked_for();
int rank_of_process = 0;
int collective_depth = 0;
std::mutex numbers_mutex;

int open_file(const char* ending) {
  const std::string path = fmt::format("{}/{}.{}", folder, rank_of_process, ending);
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

}  // namespace

bool on() noexcept { return folder != nullptr; }

void set_rank(int rank) noexcept { rank_of_process = rank; }

void write(const char* fact, const trace::Args& args) {
  if (!on()) return;
  static const int file = open_file("jsonl");
  const std::string& more = args.json();
  const std::string line = fmt::format("{{\"fact\":\"{}\"{}{}}}\n", fact, more.empty() ? "" : ",", more);
  // What can't be written is missed by the grader, not by the training.
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
}

void write(const char* fact, const trace::Args& args, std::span<const float> numbers) {
  if (!on()) return;
  const std::lock_guard lock(numbers_mutex);  // between the place and what is written there
  static const int file = open_file("bin");
  const auto at = static_cast<std::int64_t>(::lseek(file, 0, SEEK_END));
  [[maybe_unused]] const auto written = ::write(file, numbers.data(), numbers.size_bytes());
  write(fact, trace::Args(args).add("at", at).add("numbers", static_cast<std::int64_t>(numbers.size())));
}

Collective::Collective(const char* name) noexcept : name_(name) {
  if (on() && collective_depth++ == 0) write("enter", trace::Args().add("collective", std::string(name_)));
}

Collective::~Collective() {
  if (on() && --collective_depth == 0) write("leave", trace::Args().add("collective", std::string(name_)));
}

}  // namespace odori::evidence
