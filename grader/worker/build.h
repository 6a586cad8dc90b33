// Compiles and links one source file as CMake does the training programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exercise/finding.h"
#include "worker/sandbox.h"

namespace odori::grader {

/// One error of the compiler, or of the linker.
struct CompileError {
  std::string variant;       // "blank_3"; empty: in none
  int line = 0, column = 0;  // the learner's; 0: not known
  std::string message;
  std::string notes;    // what the compiler adds, a line each
  bool in_kit = false;  // in one of the kit's answers, so that its line isn't the learner's
};

struct Built {
  std::filesystem::path program;  // empty: it doesn't compile, and at least one of the others isn't
  std::vector<CompileError> errors;
  /// It took too long, or too much of something, or failed without an error in any variant. Whose fault that is, the
  /// kit's own program tells, built in the same way.
  std::optional<Finding> gave_up;
};

/// The errors in what a compiler said, in order. GCC's and Clang's form, in English.
std::vector<CompileError> read_errors(const std::string& output);
/// Likewise in what a linker said: what is declared and nowhere defined. They have no line.
std::vector<CompileError> read_link_errors(const std::string& output);

class Compiler {
 public:
  /// `build`: the kit's build folder; `sandbox`: what all sources are built in, if they aren't the user's own. Throws
  /// EnvironmentFault if the kit isn't built.
  Compiler(std::filesystem::path build, std::filesystem::path outputs, const Sandbox* sandbox = nullptr);

  /// What was built before from the same text, by the same commands and with the same library, is not built again.
  /// Throws EnvironmentFault if there is no compiler, or no space for its output. Several threads and processes may
  /// build at once.
  Built build(const std::string& source) const;
  /// The same, whatever was built before.
  Built build_anew(const std::string& source) const;

 private:
  struct Recorded {
    std::filesystem::path folder;
    std::vector<std::string> arguments;
  };
  Recorded recorded(const char* name) const;
  Command compile_command(const std::filesystem::path& text, const std::filesystem::path& object) const;
  Command link_command(const std::filesystem::path& object, const std::filesystem::path& program) const;
  /// Runs a compiler or a linker, which reads `input`, besides what the kit gives it, and writes `output`.
  EndedInside translate(const Command& command, const std::filesystem::path& input,
                        const std::filesystem::path& output) const;

  std::filesystem::path build_, outputs_;
  const Sandbox* sandbox_;
  Recorded compile_, link_;
  std::string key_;  // of the commands and of the library
};

}  // namespace odori::grader
