// Compiles and links one source file as CMake does the training programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

/// One error of the compiler.
struct CompileError {
  std::string variant;       // "blank_3"; empty: in none
  int line = 0, column = 0;  // the learner's; 0: not known
  std::string message;
  bool in_kit = false;  // in one of the kit's answers, so that its line isn't the learner's
};

struct Built {
  std::filesystem::path program;  // empty: it doesn't compile
  std::vector<CompileError> errors;
  bool gave_up = false;  // the compiler took too long
};

/// The errors in what a compiler said, in order. GCC's and Clang's form, in English.
std::vector<CompileError> read_errors(const std::string& output);

class Compiler {
 public:
  /// `build`: the kit's build folder. Throws EnvironmentFault if the kit isn't built.
  Compiler(std::filesystem::path build, std::filesystem::path outputs);

  /// What was built before from the same text, by the same commands and with the same library, is not built again.
  /// Throws EnvironmentFault if there is no compiler, no space, or no memory. Several threads and processes may build
  /// at once.
  Built build(const std::string& source) const;

 private:
  struct Recorded {
    std::filesystem::path folder;
    std::vector<std::string> words;
  };
  Recorded recorded(const char* name) const;

  std::filesystem::path build_, outputs_;
  Recorded compile_, link_;
  std::string key_;  // of the commands and of the library
};

}  // namespace odori::grader
