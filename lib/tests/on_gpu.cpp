// Runs a test where the GPUs for it are; elsewhere says what it needs, and ends with the exit code of a skipped test.
//
//   on_gpu N COMMAND...        N: how many GPUs it takes at least
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "backend/gpus.h"
#include "core/error.h"
#include "core/program.h"

namespace {
constexpr int skipped = 77;  // cmake/Targets.cmake tells ctest
}

int main(int argc, char** argv) try {
  odori::require(argc > 2, "usage: on_gpu N COMMAND...");
  const int needed = std::stoi(argv[1]), here = odori::gpu_count();
  if (here < needed) {
    // ./odori test puts a number before it: "9 tests" need ...
    fmt::print("needs {}; {}\n", needed == 1 ? "a GPU" : fmt::format("{} GPUs", needed),
               here ? fmt::format("here: {}", here) : fmt::format("none here: {}", odori::why_no_gpu()));
    return skipped;
  }
  setenv("ODORI_TEST_DEVICE", "cuda", 1);
  execv(argv[2], argv + 2);
  odori::fail("{} can't be started: {}.", argv[2], std::strerror(errno));
} catch (...) {
  return odori::report_failure();
}
