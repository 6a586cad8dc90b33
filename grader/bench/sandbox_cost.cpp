// SPDX-License-Identifier: Apache-2.0
// What the sandbox costs: a command that does nothing, with and without it, in turn.
//
//   build/bin/sandbox_cost [ROUNDS]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "program/program.h"
#include "runner/sandbox.h"

using namespace odori::grader;

namespace {

struct Times {
  std::vector<double> seconds;

  double at(double part) {
    std::sort(seconds.begin(), seconds.end());
    return 1000 * seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
  }
  void print(const char* what) {
    fmt::print("{:9} {:6.1f} ms (quartiles {:.1f} to {:.1f})\n", what, at(0.5), at(0.25), at(0.75));
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
  const Sandbox sandbox;
  const odori::Command nothing{.arguments = {"true"}};
  Times plain, enclosed;
  for (int round = 0; round < rounds; ++round) {
    plain.seconds.push_back(odori::run_process(nothing).seconds);
    enclosed.seconds.push_back(sandbox.run(nothing, {}).seconds);
  }
  plain.print("plain");
  enclosed.print("enclosed");
  fmt::print("overhead  {:6.1f} ms, the medians' difference over {} rounds\n", enclosed.at(0.5) - plain.at(0.5),
             rounds);
  return 0;
} catch (...) {
  return odori::report_failure();
}
