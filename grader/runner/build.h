// SPDX-License-Identifier: Apache-2.0
// Compiles and links one source file as CMake does the training programs.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blanks/finding.h"
#include "runner/sandbox.h"

namespace odori::grader {

/// One error of the compiler, or of the linker.
struct CompileError {
  int blank = 0;             // in whose text it is; 0: in the kit's program, or in a header
  int line = 0, column = 0;  // of that text, from 1; 0: not known
  std::string message;
  std::string notes;       // what the compiler adds, a line each
  bool in_program = true;  // false: in a header, and the compiler names no line of the program that asked for it
};

struct Built {
  std::filesystem::path program;  // empty: it does not compile, and at least one of the others is not
  std::vector<CompileError> errors;
  /// It exceeded a limit of time or memory, or failed without an error in the file. Building the kit's own program in
  /// the same way shows whose fault that is.
  std::optional<Finding> gave_up;
};

/// The errors in what a compiler said of a file of source_of(), in order. GCC's and Clang's form, in English.
std::vector<CompileError> read_errors(const std::string& output);
/// The errors in a linker's output: names that are declared and nowhere defined. They have neither blank nor line.
std::vector<CompileError> read_link_errors(const std::string& output);

struct BuildOptions {
  bool rebuild = false;         // ignores what was built before
  bool low_priority = false;    // the compiler yields to all else that this machine runs
  bool pointer_checks = false;  // the program stops where it uses a null pointer, and says where (GCC's UBSan)
  const std::atomic<bool>* cancelled = nullptr;  // ends the compiler once it is true; the result then means nothing
};

class Compiler {
 public:
  /// `build`: the kit's build folder; `sandbox`: what all sources are built in, if they aren't the user's own;
  /// `support`: an include folder, if it exists. Throws EnvironmentFault if the kit isn't built.
  Compiler(std::filesystem::path build, std::filesystem::path outputs, const Sandbox* sandbox = nullptr,
           const std::filesystem::path& support = {});

  /// Reuses what was built before from the same text, by the same commands and with the same library. Several threads
  /// and processes may build at once. Throws EnvironmentFault if there is no compiler, or no space for its output.
  Built build(const std::string& source, const BuildOptions& options = {}) const;

 private:
  /// A command of the kit's build, without its input, its output and its warnings.
  Command recorded(const char* name) const;
  /// Where this build is kept; it names its content, so that no other one is taken for it.
  std::filesystem::path folder_of(const std::string& source, const BuildOptions& options) const;
  /// Runs a compiler or a linker, which reads `input`, in addition to what the kit gives it, and writes `output`.
  EndedInside translate(Command command, const std::filesystem::path& input, const std::filesystem::path& output,
                        const BuildOptions& options) const;

  std::filesystem::path build_, outputs_;
  const Sandbox* sandbox_;
  Command compile_, link_;
  std::string key_;  // of the commands and of the library
};

}  // namespace odori::grader
