#include "worker/usage.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

namespace odori::grader {
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

void add(Usage& usage, const std::string& process) {
  const std::string folder = "/proc/" + process, status = read_proc(folder + "/status");
  if (status.empty()) return;
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

}  // namespace odori::grader
