// SPDX-License-Identifier: Apache-2.0
// For tests of support code: test cases in the environment.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/json.h"

namespace odori {

/// Starts this program again with these test cases in $ODORI_TEST_CASES, which are read when the support library is
/// loaded. Returns true in the program that was started again. To be called before main.
inline bool start_again_with(const nlohmann::json& cases) {
  constexpr const char* started = "ODORI_STARTED_WITH_TEST_CASES";
  if (std::getenv(started)) return true;
  std::vector<std::string> arguments;
  std::ifstream command("/proc/self/cmdline");
  for (std::string argument; std::getline(command, argument, '\0');) arguments.push_back(argument);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::setenv(started, "yes", 1);
  ::setenv("ODORI_TEST_CASES", json_text(cases).c_str(), 1);
  ::execv("/proc/self/exe", argv.data());
  return false;
}

}  // namespace odori
