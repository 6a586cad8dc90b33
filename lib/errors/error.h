// SPDX-License-Identifier: Apache-2.0
// Exceptions whose messages are sentences: what is wrong, what was expected, what to do.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "errors/language.h"

namespace odori {

/// Exit codes of all programs and of the grader; lib/README.md explains them.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failure = 1;
inline constexpr int usage = 2;
inline constexpr int diverged = 3;
inline constexpr int unfilled = 10;
inline constexpr int hang = 14;          // ranks deadlocked, or made different calls
inline constexpr int interrupted = 130;  // 128 + SIGINT, as in shells
}  // namespace exit_code

/// An error: its sentence, and the exit code of the program that it ends.
class Error : public std::runtime_error {
 public:
  explicit Error(const Text& sentence, int code = exit_code::failure) : Error(in_language(sentence), code) {}
  explicit Error(const std::string& sentence, int code = exit_code::failure)
      : std::runtime_error(sentence), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// An invalid flag or argument: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const Text& sentence) : Error(sentence, exit_code::usage) {}
  explicit UsageError(const std::string& sentence) : Error(sentence, exit_code::usage) {}
};

/// --help was given: what() is the help text. Ends the program with exit code 0.
class HelpRequested : public Error {
 public:
  explicit HelpRequested(const std::string& help) : Error(help, exit_code::ok) {}
};

/// A sentence in both languages that {fmt} formats with the same arguments.
template <typename... Args>
struct TextFormat {
  fmt::format_string<Args...> english, japanese;
};

/// Formatted, in the language of this process.
template <typename First, typename... Args>
std::string in_language(TextFormat<std::type_identity_t<First>, std::type_identity_t<Args>...> text, First&& first,
                        Args&&... args) {
  return fmt::format(language() == "ja" ? text.japanese : text.english, std::forward<First>(first),
                     std::forward<Args>(args)...);
}

/// Throws Error with a sentence formatted by {fmt}.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> sentence, Args&&... args) {
  throw Error(fmt::format(sentence, std::forward<Args>(args)...));
}

template <typename First, typename... Args>
[[noreturn]] void fail(TextFormat<std::type_identity_t<First>, std::type_identity_t<Args>...> sentence, First&& first,
                       Args&&... args) {
  throw Error(in_language(sentence, std::forward<First>(first), std::forward<Args>(args)...));
}

/// Calls fail() unless the condition holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> sentence, Args&&... args) {
  if (!condition) throw Error(fmt::format(sentence, std::forward<Args>(args)...));
}
template <typename First, typename... Args>
void require(bool condition, TextFormat<std::type_identity_t<First>, std::type_identity_t<Args>...> sentence,
             First&& first, Args&&... args) {
  if (!condition) fail<First, Args...>(sentence, std::forward<First>(first), std::forward<Args>(args)...);
}
inline void require(bool condition, const Text& sentence) {
  if (!condition) throw Error(sentence);
}

}  // namespace odori
