// SPDX-License-Identifier: Apache-2.0
#include "train/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace odori {
namespace {

/// Open MPI's mpirun gives every rank a terminal, also where its own output goes to a job's log.
bool mpirun_is_on_terminal() {
  std::error_code unknown;
  const std::string output = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", ::getppid()), unknown);
  return output.starts_with("/dev/pts/") || output.starts_with("/dev/tty");
}

}  // namespace

bool on_terminal() {
  const char* kind = std::getenv("TERM");
  if (!::isatty(STDOUT_FILENO) || !kind || std::string_view(kind) == "dumb") return false;
  return !std::getenv("OMPI_COMM_WORLD_SIZE") || mpirun_is_on_terminal();
}

void print_line(const std::string& line) {
  std::fputs(((on_terminal() ? "\033[J" : "") + line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace odori
