// Runs a shell command and keeps all that it said.
#pragma once

#include <string>

namespace odori::grader {

struct Ending {
  int code = -1;  // of the command, as shells have it: 128 + n for signal n
  double seconds = 0;
  std::string output;  // stdout and stderr together
  int count(const std::string& words) const;
};

/// Ended by force after 100 s (code 124).
Ending run_command(const std::string& command);

}  // namespace odori::grader
