// SPDX-License-Identifier: Apache-2.0
// The flags of the grader's commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

struct Flags {
  std::string command;                    // check, ready, status, reset, solution or watch
  std::string task;                       // its name; status: may be empty, for all
  std::optional<int> blank;               // reset, solution: this one alone
  bool yes = false;                       // solution: don't ask
  std::string language;                   // en or ja; empty: by LANG
  std::filesystem::path kit, build;       // the kit's folder; the one that it is built in
  std::filesystem::path program, script;  // the learner's files
  std::filesystem::path json;             // where to write the verdicts; empty: nowhere
  bool speedup = true;
  std::optional<std::uint64_t> seed;
  bool sandbox = false;  // check: the submission isn't the user's own
  bool apart = false;    // check: nor is anything shared that it builds
  std::vector<std::filesystem::path>
      hidden;                 // check: what answers in the sandbox may see nothing of, in addition to the kit
  std::filesystem::path out;  // check: where the timeline's page goes
};

/// Throws UsageError, and HelpRequested for --help.
Flags parse_flags(int argc, char** argv);

}  // namespace odori::grader
