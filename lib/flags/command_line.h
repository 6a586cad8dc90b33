// SPDX-License-Identifier: Apache-2.0
// Command lines of all programs, by CLI11. Errors are sentences in the user's language that suggest the nearest valid
// word, and mention --help.
//
// Only command_line.cpp includes CLI11's headers: they take longer to compile than most programs.
#pragma once

#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "errors/error.h"
#include "errors/language.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace odori {

/// Returns an empty string for a valid value, otherwise the rest of a sentence that begins with the flag.
using ValueCheck = std::function<std::string(const std::string& value)>;

/// A flag of a FlagSet, or an argument without one. A copy refers to the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  Flag check(const ValueCheck& check) const;
  /// --help shows the variable's current value as the default.
  Flag capture_default_str() const;
  Flag default_str(const std::string& text) const;
  Flag required() const;
  /// --help does not list it.
  Flag hidden() const;
  Flag needs(Flag other) const;
  Flag excludes(Flag other) const;
  /// The flag may be given several times, and all values count. By default the last one counts.
  Flag take_all() const;
  /// A flag of several values takes one value each time it is given.
  Flag one_value_each() const;
  /// One argument holds several values, separated by `between`.
  Flag delimiter(char between) const;

 private:
  CLI::Option* option_;
};

/// The flags of a program, or of one of its commands.
class FlagSet {
 public:
  FlagSet(CLI::App* app, std::string language) : app_(app), language_(std::move(language)) {}

  /// `name`: "--epoch", or "folder" for a positional argument. Value: a type that command_line.cpp instantiates.
  template <typename Value>
  Flag add_option(const std::string& name, Value& value, const std::string& description = "");
  Flag add_option_function(const std::string& name, const std::function<void(const std::string&)>& take,
                           const std::string& description);
  /// An integer in a range; --help shows the default.
  template <typename Value>
  Flag add_number(const std::string& name, Value& value, long long least, long long most,
                  const std::string& description) {
    return add_option(name, value, description).check(whole_number(least, most)).capture_default_str();
  }
  /// One of these names; --help shows the default.
  Flag add_choice(const std::string& name, std::string& value, std::vector<std::string> names,
                  const std::string& description) {
    return add_option(name, value, description).check(one_of(std::move(names))).capture_default_str();
  }
  /// One of these names, each of which sets a value.
  template <typename Value>
  Flag add_choice(const std::string& name, Value& value, std::vector<std::pair<std::string, Value>> choices,
                  const std::string& description) {
    std::vector<std::string> names;
    for (const auto& [each, meant] : choices) names.push_back(each);
    const auto take = [&value, choices = std::move(choices)](const std::string& text) {
      for (const auto& [each, meant] : choices)
        if (each == text) value = meant;
    };
    return add_option_function(name, take, description).check(one_of(std::move(names)));
  }
  Flag add_flag(const std::string& name, bool& value, const std::string& description = "");
  Flag add_flag_callback(const std::string& name, const std::function<void()>& take, const std::string& description);

  /// Accepts these names.
  ValueCheck one_of(std::vector<std::string> names) const;
  /// Accepts integers in this range.
  ValueCheck whole_number(long long least, long long most) const;
  /// Accepts a decimal number without a sign if `accepts` returns true for it. `expected`: "a number above 0".
  template <typename Number, typename Accepts>
  ValueCheck number(const Text& expected, Accepts accepts) const {
    return [expected = expected.in(language_), accepts, language = language_](const std::string& text) {
      // CLI11 would also accept hexadecimal and octal values, and clamp those that are too large.
      Number value{};
      const char* const end = text.data() + text.size();
      const auto [parsed, error] = std::from_chars(text.data(), end, value);
      const bool octal = std::is_integral_v<Number> && text.size() > 1 && text[0] == '0';
      const bool fits = error == std::errc() && parsed == end && !octal && text[0] != '-' && accepts(value);
      return fits ? std::string() : not_accepted(expected, text, {}, language);
    };
  }

  /// --lang, which each program has.
  void add_language_flag();

 protected:
  /// The result of a failed ValueCheck.
  static std::string not_accepted(const std::string& expected, const std::string& text,
                                  const std::vector<std::string>& known, const std::string& language);

  CLI::App* app_;
  std::string language_;
};

class CommandLine : public FlagSet {
 public:
  /// `command`: as users type it, "./odori demo". If a flag is given twice, the last one counts.
  CommandLine(const std::string& about, const std::string& command, int argc, char** argv);
  /// For a program that describes its flags in both languages, by say(): all of --help is in the user's language.
  CommandLine(const Text& about, const std::string& command, int argc, char** argv);
  ~CommandLine();

  /// Adds a subcommand with its own flags. One of the subcommands must be given.
  FlagSet add_command(const std::string& name, const std::string& description);
  /// Returns the flags of a subcommand. Throws std::exception if there is none of this name.
  FlagSet command(const std::string& name) const;
  /// The subcommand that was given. Valid after parse().
  std::string chosen_command() const;
  /// True if the flag was given; false if the program has no such flag. Valid after parse().
  bool has(const std::string& flag) const;
  /// In --help, the flags that are added after this call come under this title.
  void begin_group(const Text& title);
  /// Width of the column of flags in --help, in characters.
  void set_column_width(int width);

  /// Returns the text in the language of --lang or the environment.
  std::string say(const Text& text) const { return text.in(language_); }

  /// Parses the arguments. Underscores in flags count as hyphens (--n_gpus), as in the original workshop's scripts.
  /// Throws UsageError, and HelpRequested for --help. `also`: flags that the calling program handles, for suggestions.
  void parse(const std::vector<std::string>& also = {});

 private:
  std::vector<std::string> words() const;
  std::string unknown(const std::string& word, const std::vector<std::string>& also) const;
  void refuse_empty_values() const;
  std::string refused_value(const std::string& what) const;
  const CLI::App& asked() const;

  std::unique_ptr<CLI::App> owned_;
  int argc_;
  char** argv_;
};

}  // namespace odori
