#include "run_command.h"

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "core/error.h"

namespace odori::grader {

int Ending::count(const std::string& words) const {
  int n = 0;
  for (auto at = output.find(words); at != std::string::npos; at = output.find(words, at + 1)) ++n;
  return n;
}

Ending run_command(const std::string& command) {
  std::string quoted;
  for (const char c : command) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  const auto begin = std::chrono::steady_clock::now();
  FILE* pipe = popen(fmt::format("timeout -k 5 100 bash -c '{}' 2>&1", quoted).c_str(), "r");
  require(pipe != nullptr, "No shell could be started for: {}", command);
  Ending ending;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ending.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ending;
}

}  // namespace odori::grader
