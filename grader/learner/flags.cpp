#include "learner/flags.h"

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

CLI::Option* add_word(CLI::App& app, Flags& flags, const char* word, const char* what) {
  CLI::App* added = app.add_subcommand(word, what);
  added->add_option("--lang", flags.language, "en or ja; without it, by LC_ALL, LC_MESSAGES or LANG")
      ->check(CLI::IsMember({"en", "ja"}));
  added->add_option("--kit", flags.kit, "The kit's folder")->capture_default_str();
  added->add_option("--build", flags.build, "The folder that the kit is built in")->capture_default_str();
  return added->add_option("task", flags.task, "multi_gpu or multi_node");
}

void add_check(CLI::App& app, Flags& flags) {
  add_word(app, flags, "check", "Judges your answers to a task, blank by blank")->required();
  CLI::App* check = app.get_subcommand("check");
  check->add_flag_callback(
      "--no-speedup", [&flags] { flags.speedup = false; }, "Leave out the speedup, which takes the longest");
  check->add_option("--json", flags.json, "Write the verdicts into this file as well");
  check->add_option("--program", flags.program, "The program to judge, instead of the one below exercises/");
  check->add_option("--script", flags.script, "The job script to judge, instead of the one below jobscripts/");
  check->add_option("--seed", flags.seed, "Of the data that the checks train on; without it, a new one each time");
  check->add_option("--out", flags.out, "The folder for the timeline's page; without it, out/check/TASK");
  check->add_flag("--sandbox", flags.sandbox, "Build and run the answers inside walls, as somebody else's");
  check->add_option_function<std::string>(
      "--without", [&flags](const std::string& names) { flags.without = without_of(names); },
      "Switch these defences off (A,B,...): for tests alone, which see what each is good for");
}

void add_other_words(CLI::App& app, Flags& flags) {
  add_word(app, flags, "ready", "Says what keeps a task from being submitted; ./odori submit asks this first")
      ->required();
  add_word(app, flags, "status", "Shows the verdicts and points so far, of one task or of both");
  add_word(app, flags, "watch", "Checks again after each save, without the speedup")->required();
  add_word(app, flags, "reset", "Empties your blanks again, and keeps a copy of what you had")->required();
  add_word(app, flags, "solution", "Shows the kit's answers, after a pass or a clear yes")->required();
  for (const char* word : {"reset", "solution"})
    app.get_subcommand(word)->add_option("blank", flags.blank, "The number of a blank: this one alone");
  app.get_subcommand("solution")->add_flag("--yes", flags.yes, "Show it, whether it was passed or not");
}

}  // namespace

Flags parse_flags(int argc, char** argv) {
  Flags flags{.kit = ODORI_FOLDER, .build = ODORI_BUILD_FOLDER};
  CLI::App app("Judges answers to the exercises.", "./odori");
  app.require_subcommand(1);
  add_check(app, flags);
  add_other_words(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.get_subcommands().empty() ? app.help() : app.get_subcommands()[0]->help());
  } catch (const CLI::RequiredError& error) {
    if (app.get_subcommands().empty()) throw UsageError(fmt::format("{}. ./odori help lists the words.", error.what()));
    throw UsageError(fmt::format("Which task? ./odori {0} multi_gpu is task 1, ./odori {0} multi_node is task 2.",
                                 app.get_subcommands()[0]->get_name()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. ./odori {} --help lists the flags.", error.what(),
                                 app.get_subcommands().empty() ? "help" : app.get_subcommands()[0]->get_name()));
  }
  flags.word = app.get_subcommands()[0]->get_name();
  if (flags.task.empty()) return flags;
  const Task& task = task_named(flags.task);
  if (flags.program.empty()) flags.program = flags.kit / "exercises" / task.program;
  if (flags.script.empty()) flags.script = flags.kit / "jobscripts" / task.script;
  if (flags.out.empty()) flags.out = flags.kit / "out" / "check" / task.name;
  return flags;
}

}  // namespace odori::grader
