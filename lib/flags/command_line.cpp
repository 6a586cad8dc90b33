// SPDX-License-Identifier: Apache-2.0
#include "flags/command_line.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "errors/nearest.h"

namespace odori {
namespace {

/// --lang counts wherever it stands, and before the flags are parsed: for the program's --help, refusals and messages.
std::string take_language(int argc, char** argv) {
  std::string asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--lang" && i + 1 < argc) asked = argv[i + 1];
    if (word.starts_with("--lang=")) asked = word.substr(7);
  }
  if (asked == "en" || asked == "ja") ask_language(asked);
  return language();
}

/// "a, b or c"
std::string listed(const std::vector<std::string>& names, const std::string& language) {
  if (language == "ja") return fmt::format("{}", fmt::join(names, "、"));
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string any_of(const std::vector<std::string>& names, const std::string& language) {
  return listed(names, language) + (language == "ja" ? " のどれか" : "");
}

/// " Did you mean --epoch?", if one of the known words is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const std::string& language) {
  const auto near = nearest(word, known);
  if (near.empty()) return {};
  return fmt::format(fmt::runtime(language == "ja" ? "{} のことですか。" : " Did you mean {}?"),
                     listed(near, language));
}

}  // namespace

Flag Flag::check(const ValueCheck& check) const { return Flag(option_->check(check)); }
Flag Flag::capture_default_str() const { return Flag(option_->capture_default_str()); }
Flag Flag::default_str(const std::string& text) const { return Flag(option_->default_str(text)); }
Flag Flag::required() const { return Flag(option_->required()); }
Flag Flag::hidden() const { return Flag(option_->group("")); }
Flag Flag::needs(Flag other) const { return Flag(option_->needs(other.option_)); }
Flag Flag::excludes(Flag other) const { return Flag(option_->excludes(other.option_)); }
Flag Flag::take_all() const { return Flag(option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)); }
Flag Flag::one_value_each() const { return Flag(option_->allow_extra_args(false)); }
Flag Flag::delimiter(char between) const { return Flag(option_->delimiter(between)); }

template <typename Value>
Flag FlagSet::add_option(const std::string& name, Value& value, const std::string& description) {
  return Flag(app_->add_option(name, value, description));
}
template Flag FlagSet::add_option(const std::string&, double&, const std::string&);
template Flag FlagSet::add_option(const std::string&, float&, const std::string&);
template Flag FlagSet::add_option(const std::string&, int&, const std::string&);
template Flag FlagSet::add_option(const std::string&, unsigned&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<double>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<int>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<unsigned>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::size_t&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::string&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::vector<std::filesystem::path>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::vector<std::string>&, const std::string&);

void FlagSet::add_language_flag() {
  // take_language() has read it.
  add_option_function(
      "--lang", [](const std::string&) {},
      Text{"en or ja; without it, LANG decides", "en か ja。省略時は LANG による"}.in(language_))
      .check(one_of({"en", "ja"}));
}
Flag FlagSet::add_option_function(const std::string& name, const std::function<void(const std::string&)>& take,
                                  const std::string& description) {
  return Flag(app_->add_option_function<std::string>(name, take, description));
}
Flag FlagSet::add_flag(const std::string& name, bool& value, const std::string& description) {
  return Flag(app_->add_flag(name, value, description));
}
Flag FlagSet::add_flag_callback(const std::string& name, const std::function<void()>& take,
                                const std::string& description) {
  return Flag(app_->add_flag_callback(name, take, description));
}

CommandLine::CommandLine(const std::string& about, const std::string& command, int argc, char** argv)
    : FlagSet(nullptr, take_language(argc, argv)),
      owned_(std::make_unique<CLI::App>(about, command)),
      argc_(argc),
      argv_(argv) {
  app_ = owned_.get();
  app_->option_defaults()->take_last();
  add_language_flag();
}

CommandLine::CommandLine(const Text& about, const std::string& command, int argc, char** argv)
    : CommandLine(about.in(take_language(argc, argv)), command, argc, argv) {
  if (language_ != "ja") return;
  app_->option_defaults()->group("フラグ");
  app_->get_option("--lang")->group("フラグ");
  app_->get_help_ptr()->description("この説明を表示して終わる")->group("フラグ");
  app_->get_formatter()->label("Usage", "使い方");
  app_->get_formatter()->label("OPTIONS", "フラグ");
}

CommandLine::~CommandLine() = default;

FlagSet CommandLine::add_command(const std::string& name, const std::string& description) {
  app_->require_subcommand(1);
  FlagSet added(app_->add_subcommand(name, description), language_);
  added.add_language_flag();
  return added;
}
FlagSet CommandLine::command(const std::string& name) const { return {app_->get_subcommand(name), language_}; }
std::string CommandLine::chosen_command() const { return app_->get_subcommands().at(0)->get_name(); }
bool CommandLine::has(const std::string& flag) const {
  const CLI::Option* const option = app_->get_option_no_throw(flag);
  return option && option->count() > 0;
}
void CommandLine::begin_group(const Text& title) { app_->option_defaults()->group(say(title)); }
void CommandLine::set_column_width(int width) { app_->get_formatter()->column_width(static_cast<std::size_t>(width)); }

ValueCheck FlagSet::one_of(std::vector<std::string> names) const {
  return [names = std::move(names), language = language_](const std::string& text) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    return known ? std::string() : not_accepted(any_of(names, language), text, names, language);
  };
}

ValueCheck FlagSet::whole_number(long long least, long long most) const {
  return number<long long>(
      {fmt::format("a whole number from {} to {}", least, most), fmt::format("{} から {} までの整数", least, most)},
      [least, most](long long value) { return least <= value && value <= most; });
}

std::string FlagSet::not_accepted(const std::string& expected, const std::string& text,
                                  const std::vector<std::string>& known, const std::string& language) {
  const char* sentence = language == "ja" ? "{}です（\"{}\" は使えません）。{}" : "{}, not \"{}\".{}";
  return fmt::format(fmt::runtime(sentence), expected, text, did_you_mean(text, known, language));
}

const CLI::App& CommandLine::asked() const {
  const auto words = app_->get_subcommands();
  return words.empty() ? *app_ : *words.front();
}

/// The command line's words, in which known flags have hyphens. Last word first, as CLI11 takes them.
std::vector<std::string> CommandLine::words() const {
  std::set<std::string> known;
  std::vector<CLI::App*> apps = app_->get_subcommands([](const CLI::App*) { return true; });
  apps.push_back(app_);
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) known.insert("--" + name);
  std::vector<std::string> words(std::reverse_iterator(argv_ + argc_),
                                 std::reverse_iterator(argv_ + std::min(argc_, 1)));
  for (std::string& word : words) {
    const std::size_t end = std::min(word.find('='), word.size());
    std::string flag = word.substr(0, end);
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (!known.contains(flag)) continue;
    if (end + 1 == word.size())  // CLI11 would take the next word
      throw CLI::ArgumentMismatch(flag + ":", CLI::ExitCodes::ArgumentMismatch);
    word.replace(0, end, flag);
  }
  return words;
}

std::string CommandLine::unknown(const std::string& word, const std::vector<std::string>& also) const {
  std::vector<std::string> known = also;
  for (const CLI::Option* option : asked().get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) known.push_back("--" + name);
  if (word == "--" || std::find(known.begin(), known.end(), word) != known.end())
    return say({"Flags after \"--\" are not read: leave \"--\" out.",
                "「--」の後のフラグは読まれません。「--」を取り除いてください。"});
  const Text sentence = word.starts_with('-') ? Text{"Unknown flag {}.{}", "{} というフラグはありません。{}"}
                                              : Text{"Unexpected argument \"{}\".{}", "\"{}\" は余分な引数です。{}"};
  return fmt::format(fmt::runtime(say(sentence)), word, did_you_mean(word, known, language_));
}

/// Of CLI11's "--epoch: WHAT", in which WHAT is not_accepted().
std::string CommandLine::refused_value(const std::string& what) const {
  const std::size_t colon = what.find(": ");
  const std::string name = what.substr(0, colon), rest = what.substr(std::min(what.size(), colon + 2));
  const char* english = name.starts_with('-') ? "{} takes {}" : "The {} is {}";
  return fmt::format(fmt::runtime(say({english, "{} に指定できるのは {}"})), name, rest);
}

/// As of --resume "$FOLDER", where nothing set FOLDER.
void CommandLine::refuse_empty_values() const {
  for (const CLI::App* app : {static_cast<const CLI::App*>(app_), &asked()})
    for (const CLI::Option* option : app->get_options())
      for (const std::string& value : option->results())
        if (value.empty() && !option->get_positional())
          throw CLI::ArgumentMismatch(option->get_name() + ":", CLI::ExitCodes::ArgumentMismatch);
}

void CommandLine::parse(const std::vector<std::string>& also) {
  std::string sentence;
  try {
    app_->parse(words());
    return refuse_empty_values();
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app_->help());
  } catch (const CLI::ExtrasError&) {
    sentence = unknown(app_->remaining(true).front(), also);
  } catch (const CLI::ValidationError& error) {
    // What follows an unknown flag can have been taken for something else.
    const auto rest = app_->remaining(true);
    const bool has_unknown = !rest.empty() && rest.front().starts_with("--");
    sentence = has_unknown ? unknown(rest.front(), also) : refused_value(error.what());
  } catch (const CLI::ArgumentMismatch& error) {  // "--epoch: 1 required INT missing"
    const std::string text = error.what();
    sentence = text.substr(0, text.find(':')) + say({" needs a value.", " には値が必要です。"});
  } catch (const CLI::RequiredError& error) {  // "--out is required"
    const std::string text = error.what();
    sentence = text.substr(0, text.find(' ')) + say({" is missing.", " が指定されていません。"});
  } catch (const CLI::ParseError& error) {
    sentence = fmt::format("{}.", error.what());
  }
  const std::string command = &asked() == app_ ? app_->get_name() : app_->get_name() + " " + asked().get_name();
  throw UsageError(sentence + '\n' +
                   fmt::format(fmt::runtime(say({"{} --help lists all flags.", "フラグの一覧: {} --help"})), command));
}

}  // namespace odori
