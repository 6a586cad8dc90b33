// SPDX-License-Identifier: Apache-2.0
// ./odori check, watch, status, reset, solution. Each returns an exit code.
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

/// Verdicts and points so far, of one task or of both; nothing is run.
int status(const Flags& flags);

/// Puts the pristine exercise back, or one blank of it; what was there is kept, and where is said.
int reset(const Flags& flags);

/// Shows the kit's answer: after a pass, or after a clear "yes, show me".
int solution(const Flags& flags);

/// The first blank whose last verdict isn't PASS; nothing if all are right.
std::optional<int> first_not_right(const Flags& flags);

/// Checks at once and after each save, on a cleared screen, until q or Ctrl-C. Returns the exit code.
int watch(const Flags& flags);

/// Prints the verdicts as they come. Returns the exit code of grader/README.md's table.
int check(const Flags& flags);

/// Is the task ready to be submitted, as far as its files tell? Prints what isn't: blanks left empty, a select line
/// that asks for the wrong thing. Nothing is built or run, so that it works on a login node. Returns 0 or the exit
/// code.
int ready(const Flags& flags);

}  // namespace odori::grader
