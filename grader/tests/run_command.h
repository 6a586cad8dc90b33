// SPDX-License-Identifier: Apache-2.0
// Runs a shell command and keeps all that it said.
#pragma once

#include <string>

#include "program/process.h"

namespace odori::grader {

/// Ended by force after 100 s.
inline Ended run_command(const std::string& command) {
  return run_process({.arguments = {"bash", "-c", command}}, {.time = std::chrono::seconds(100)});
}

}  // namespace odori::grader
