// SPDX-License-Identifier: Apache-2.0
// Errors are sentences: what was wrong, what was expected, what to do.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace odori {

/// Exit codes that every program and the grader share (the table is in lib/README.md).
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failure = 1;
inline constexpr int usage = 2;
inline constexpr int diverged = 3;
inline constexpr int unfilled = 10;
inline constexpr int hang = 14;          // ranks wait for what does not come, or make different calls
inline constexpr int interrupted = 130;  // 128 + SIGINT, as shells have it
}  // namespace exit_code

/// Something that went wrong, told in a sentence, and the exit code of the program that dies of it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence, int code = exit_code::failure)
      : std::runtime_error(sentence), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A flag or an argument that can't be used: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& sentence) : Error(sentence, exit_code::usage) {}
};

/// --help was asked for: `what()` is the help. Ends the program with exit code 0.
class HelpRequested : public Error {
 public:
  explicit HelpRequested(const std::string& help) : Error(help, exit_code::ok) {}
};

/// Throws an Error whose sentence is formatted as {fmt} does.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> sentence, Args&&... args) {
  throw Error(fmt::format(sentence, std::forward<Args>(args)...));
}

/// fail() unless the condition holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> sentence, Args&&... args) {
  if (!condition) throw Error(fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace odori
