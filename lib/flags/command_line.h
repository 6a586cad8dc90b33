// SPDX-License-Identifier: Apache-2.0
// The command line of all the kit's programs: CLI11, and what is said of a flag or a value that isn't there. A refusal
// is a sentence in the user's language, with the nearest word that there is, and the way to --help.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "errors/error.h"
#include "errors/language.h"

namespace odori {

class CommandLine {
 public:
  /// `command`: as people call it, "./odori demo". Of a flag that is given twice, the last counts.
  CommandLine(const std::string& about, const std::string& command, int argc, char** argv);
  /// Of a program whose flags are described in both languages, by say(): its whole --help is in the user's language.
  CommandLine(const Text& about, const std::string& command, int argc, char** argv);

  CLI::App& app() { return app_; }
  /// In the language that --lang or the environment asks for.
  std::string say(const Text& text) const { return text.in(language_); }

  /// The value is one of these names.
  CLI::Validator one_of(std::vector<std::string> names) const;
  /// The value is a whole number in this range.
  CLI::Validator whole_number(long long least, long long most) const;
  /// The value is a decimal number, without a sign, that `accepts` takes. `expected`: "a number above 0".
  template <typename Number, typename Accepts>
  CLI::Validator number(const Text& expected, Accepts accepts) const {
    return CLI::Validator(
        [expected = expected.in(language_), accepts, language = language_](const std::string& text) {
          // CLI11 itself would also take hexadecimal and octal values, and bend those that are too large.
          Number value{};
          const char* const end = text.data() + text.size();
          const auto [parsed, error] = std::from_chars(text.data(), end, value);
          const bool octal = std::is_integral_v<Number> && text.size() > 1 && text[0] == '0';
          const bool fits = error == std::errc() && parsed == end && !octal && text[0] != '-' && accepts(value);
          return fits ? std::string() : not_accepted(expected, text, {}, language);
        },
        "");
  }

  /// Flags have hyphens; with underscores (--n_gpus), as the original workshop's scripts have them, they are taken too.
  /// Throws UsageError, and HelpRequested for --help. `also`: flags that the caller of this program takes for itself.
  void parse(const std::vector<std::string>& also = {});

 private:
  /// What a validator says: the rest of a sentence that begins with the flag.
  static std::string not_accepted(const std::string& expected, const std::string& text,
                                  const std::vector<std::string>& known, const std::string& language);
  std::vector<std::string> words() const;
  std::string unknown(const std::string& word, const std::vector<std::string>& also) const;
  void refuse_empty_values() const;
  std::string refused_value(const std::string& what) const;
  const CLI::App& asked() const;

  CLI::App app_;
  int argc_;
  char** argv_;
  std::string language_;
};

}  // namespace odori
