// SPDX-License-Identifier: Apache-2.0
// Runs a test where the devices for it are; elsewhere says what it needs, and ends with the exit code of a skipped
// test.
//
//   on_device N COMMAND...       N: how many GPUs it takes at least
//   on_device bf16 COMMAND...    CPU devices that have bf16
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "backend/gpus.h"
#include "backend/precision.h"
#include "errors/error.h"
#include "program/program.h"

namespace {
constexpr int skipped = 77;  // cmake/Targets.cmake tells ctest
}

int main(int argc, char** argv) try {
  odori::require(argc > 2, "usage: on_device N|bf16 COMMAND...");
  const bool on_cpu = argv[1] == std::string("bf16");
  const int needed = on_cpu ? 0 : std::stoi(argv[1]), here = on_cpu ? 0 : odori::gpu_count();
  if (on_cpu && !odori::cpu_has_bf16()) {
    fmt::print("needs a processor with AMX, for bf16; none here\n");
    return skipped;
  }
  if (here < needed) {
    // ./odori test puts a number before it: "9 tests" need ...
    fmt::print("needs {}; {}\n", needed == 1 ? "a GPU" : fmt::format("{} GPUs", needed),
               here ? fmt::format("here: {}", here) : fmt::format("none here: {}", odori::why_no_gpu()));
    return skipped;
  }
  setenv("ODORI_TEST_DEVICE", on_cpu ? "cpu_bf16" : "cuda", 1);
  execv(argv[2], argv + 2);
  odori::fail("{} can't be started: {}.", argv[2], std::strerror(errno));
} catch (...) {
  return odori::report_failure();
}
