#include "demo/child.h"

#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "core/error.h"
#include "core/program.h"

extern char** environ;  // NOLINT: POSIX has it so

namespace odori::demo {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  require(error == 0, "{} can't be started: {}.", command[0], std::strerror(error));
  return child;
}

/// Its exit code once it has ended.
std::optional<int> exit_code_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool ends_within(pid_t child, Clock::duration time) {
  for (const auto deadline = Clock::now() + time; Clock::now() < deadline; std::this_thread::sleep_for(20ms))
    if (exit_code_of(child)) return true;
  return false;
}

/// Ctrl-C on a terminal has reached the child already: it is asked once more only if that was not so.
void end(pid_t child) {
  if (ends_within(child, 2s)) return;
  kill(child, SIGTERM);
  if (ends_within(child, 10s)) return;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace

int run_child(const std::vector<std::string>& command) {
  const pid_t child = start(command);
  while (!interrupted()) {
    if (const auto code = exit_code_of(child)) return *code;
    std::this_thread::sleep_for(20ms);
  }
  end(child);
  throw Error("Interrupted.", exit_code::interrupted);
}

}  // namespace odori::demo
