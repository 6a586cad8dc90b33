// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "errors/error.h"
#include "errors/text.h"

#ifdef ODORI_NVTX  // where its headers are found
#include <nvtx3/nvToolsExt.h>
#endif

namespace odori::trace {
namespace {

/// Does a profiler look on? NVIDIA's tools (nsys, ncu) say so in the environment before the program starts. It then
/// sees the event stream's spans as well, under the same names.
bool profiler_watches() noexcept {
#ifdef ODORI_NVTX
  static const bool watches = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
  return watches;
#else
  return false;
#endif
}

void begin_range([[maybe_unused]] const char* name) noexcept {
#ifdef ODORI_NVTX
  nvtxRangePushA(name);
#endif
}

void end_range() noexcept {
#ifdef ODORI_NVTX
  nvtxRangePop();
#endif
}

// The process's one stream, as stdout is: it has to be reachable from everywhere without being passed along.
std::atomic<int> stream{-1};
int rank_of_process = 0;
thread_local int device_of_thread = 0;

std::int64_t now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

/// One event, one line, one write: threads don't mix, and a kill can't cut what was written. A full disk ends the
/// stream, not the training.
void write_line(const std::string& line) {
  int fd = stream.load(std::memory_order_relaxed);
  if (fd < 0) return;
  const ssize_t n = ::write(fd, line.data(), line.size());
  if (n == static_cast<ssize_t>(line.size())) return;
  const int reason = n < 0 ? errno : ENOSPC;
  if (!stream.compare_exchange_strong(fd, -1)) return;  // another thread has told it
  fmt::print(stderr,
             "\nThe event stream of rank {} ends here: it can't be written ({}). The training goes on without it.\n",
             rank_of_process, std::strerror(reason));
}

void write_event(const char* name, char phase, std::int64_t ts, const std::string& rest) {
  write_line(fmt::format(R"({{"name":"{}","ph":"{}","pid":{},"tid":{},"ts":{}{}}},)"
                         "\n",
                         name, phase, rank_of_process, device_of_thread, ts, rest));
}

/// The rank of a stream's file, "trace.3.json"; nothing if it is another file.
std::optional<int> rank_of(std::string_view name) {
  constexpr std::string_view begin = "trace.", end = ".json";
  if (!name.starts_with(begin) || !name.ends_with(end)) return {};
  name.remove_prefix(begin.size());
  name.remove_suffix(end.size());
  const auto rank = number_of<int>(name);
  return rank && *rank >= 0 ? rank : std::nullopt;
}

void remove_ranks_from(int n_ranks, const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (const auto rank = rank_of(entry.path().filename().string()); rank && *rank >= n_ranks)
      std::filesystem::remove(entry.path(), error);
}

}  // namespace

File::File(const std::string& directory, int rank, int n_ranks) {
  if (directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const std::string path = fmt::format("{}/trace.{}.json", directory, rank);
  // A pipe with a name would be waited for without O_NONBLOCK.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  require(fd >= 0,
          {"The event stream {} can't be written: {}. Give --trace a folder that you may write to.",
           "イベント列 {} を書けません: {}。--trace に書き込めるフォルダを指定してください。"},
          path, error ? error.message() : std::strerror(errno));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd);
    fail({"Another training writes its event stream into {}. Give --trace another folder, or wait until that one has "
          "ended.",
          "別の学習が {} にイベント列を書いています。--trace "
          "に別のフォルダを指定するか、その学習が終わるまで待ってください。"},
         directory);
  }
  [[maybe_unused]] const int emptied = ::ftruncate(fd, 0);  // no other file has a length
  if (rank == 0) remove_ranks_from(n_ranks, directory);
  rank_of_process = rank;
  stream = fd;
  write_line("[\n");
  write_event("process_name", 'M', 0, fmt::format(R"(,"args":{{"name":"rank {}"}})", rank));
}

File::~File() {
  const int fd = stream.exchange(-1);
  if (fd < 0) return;
  // The last event has no comma behind it, which makes the whole a strict JSON array.
  const std::string end = fmt::format(R"({{"name":"end","ph":"i","s":"p","pid":{},"tid":{},"ts":{}}})"
                                      "\n]\n",
                                      rank_of_process, device_of_thread, now_us());
  [[maybe_unused]] const auto written = ::write(fd, end.data(), end.size());
  ::close(fd);
}

bool on() noexcept { return stream.load(std::memory_order_relaxed) >= 0; }

bool watched() noexcept { return on() || profiler_watches(); }

void set_device(int device) noexcept { device_of_thread = device; }

Args& Args::add_json(const char* key, const std::string& json) {
  json_ += fmt::format(R"({}"{}":{})", json_.empty() ? "" : ",", key, json);
  return *this;
}

Args& Args::add(const char* key, std::int64_t value) { return add_json(key, fmt::format("{}", value)); }

Args& Args::add(const char* key, double value) {
  return add_json(key, std::isfinite(value) ? fmt::format("{}", value) : "null");  // JSON knows no infinity
}

Args& Args::add(const char* key, const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return add_json(key, '"' + escaped + '"');
}

Args& Args::add(const char* key, std::span<const std::int64_t> values) {
  return add_json(key, fmt::format("[{}]", fmt::join(values, ",")));
}

Args& Args::add(const char* key, const Args& group) { return add_json(key, '{' + group.json() + '}'); }

Args& Args::add(const char* key, const std::vector<Args>& groups) {
  std::vector<std::string> members;
  for (const Args& group : groups) members.push_back('{' + group.json() + '}');
  return add_json(key, fmt::format("[{}]", fmt::join(members, ",")));
}

void instant(const char* name, const Args& args) {
  if (!on()) return;
  write_event(name, 'i', now_us(), fmt::format(R"(,"s":"t","args":{{{}}})", args.json()));
}

Span::Span(const char* name, std::size_t bytes) noexcept : name_(name), bytes_(bytes) {
  if (on()) begin_us_ = now_us();
  if (profiler_watches()) begin_range(name);
}

Span::~Span() {
  if (profiler_watches()) end_range();
  if (begin_us_ == 0 || !on()) return;
  const std::int64_t duration = now_us() - begin_us_;
  write_event(name_, 'X', begin_us_,
              bytes_ ? fmt::format(R"(,"dur":{},"args":{{"bytes":{}}})", duration, bytes_)
                     : fmt::format(R"(,"dur":{})", duration));
}

}  // namespace odori::trace
