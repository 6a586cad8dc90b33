// SPDX-License-Identifier: Apache-2.0
#include "program/usage.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

namespace odori {
namespace {

namespace fs = std::filesystem;

/// Files below /proc are read in one go. Empty if there is none any more.
std::string read_proc(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 8192> buffer;
  for (ssize_t n; (n = read(file, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), n);
  close(file);
  return text;
}

/// "RssAnon:     1234 kB", in bytes; 0 for a line that isn't there.
std::size_t line_of(const std::string& status, const char* name) {
  const auto at = status.find(std::string("\n") + name + ':');
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + std::strlen(name) + 2, nullptr, 10) * 1024;
}

/// "PID (NAME) STATE ...": its own time, and that of its children that it has waited for, are numbers 14 to 17.
std::chrono::milliseconds processor_time_of(const std::string& stat) {
  const auto behind_name = stat.rfind(')');
  std::array<unsigned long long, 4> ticks{};
  if (behind_name == std::string::npos ||
      std::sscanf(stat.c_str() + behind_name + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
                  &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 4)
    return {};
  static const auto a_second = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
  return std::chrono::milliseconds((ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 1000 / a_second);
}

void add(Usage& usage, const std::string& process) {
  const std::string folder = "/proc/" + process, status = read_proc(folder + "/status");
  if (status.empty()) return;
  usage.processor_time += processor_time_of(read_proc(folder + "/stat"));
  for (const char* name : {"RssAnon", "RssShmem", "VmSwap", "VmPTE"}) usage.memory += line_of(status, name);
  std::error_code gone;
  for (fs::directory_iterator task(folder + "/task", gone), end; !gone && task != end; task.increment(gone)) {
    ++usage.tasks;
    const std::string children = read_proc(task->path() / "children");
    for (std::size_t at = 0, space; (space = children.find(' ', at)) != std::string::npos; at = space + 1)
      add(usage, children.substr(at, space - at));
  }
}

}  // namespace

Usage usage_of(pid_t process) {
  Usage usage;
  add(usage, std::to_string(process));
  return usage;
}

ProcessState state_of(pid_t process) {
  const std::string text = read_proc("/proc/" + std::to_string(process) + "/stat");
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos || after_name + 2 >= text.size())
    return ::kill(process, 0) != 0 && errno == ESRCH ? ProcessState::ended : ProcessState::running;
  switch (text[after_name + 2]) {
    case 'T':
    case 't':
      return ProcessState::stopped;
    case 'Z':
    case 'X':
      return ProcessState::ended;
  }
  return ProcessState::running;
}

}  // namespace odori
