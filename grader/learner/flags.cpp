#include "learner/flags.h"

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

void add_check(CLI::App& app, Flags& flags) {
  CLI::App* check = app.add_subcommand("check", "Judges your answers to a task, blank by blank");
  check->add_option("task", flags.task, "multi_gpu or multi_node")->required();
  check->add_option("--lang", flags.language, "en or ja; without it, by LC_ALL, LC_MESSAGES or LANG")
      ->check(CLI::IsMember({"en", "ja"}));
  check->add_flag("!--no-speedup", flags.speedup, "Leave out the speedup, which takes the longest");
  check->add_option("--json", flags.json, "Write the verdicts into this file as well");
  check->add_option("--program", flags.program, "The program to judge, instead of the one below exercises/");
  check->add_option("--script", flags.script, "The job script to judge, instead of the one below jobscripts/");
  check->add_option("--seed", flags.seed, "Of the data that the checks train on; without it, a new one each time");
  check->add_option("--kit", flags.kit, "The kit's folder")->capture_default_str();
  check->add_option("--build", flags.build, "The folder that the kit is built in")->capture_default_str();
}

}  // namespace

Flags parse_flags(int argc, char** argv) {
  Flags flags{.kit = ODORI_FOLDER, .build = ODORI_BUILD_FOLDER};
  CLI::App app("Judges answers to the exercises.", "./odori");
  app.require_subcommand(1);
  add_check(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.get_subcommands().empty() ? app.help() : app.get_subcommands()[0]->help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. ./odori check --help lists the flags.", error.what()));
  }
  flags.word = app.get_subcommands()[0]->get_name();
  const Task& task = task_named(flags.task);
  if (flags.program.empty()) flags.program = flags.kit / "exercises" / task.program;
  if (flags.script.empty()) flags.script = flags.kit / "jobscripts" / task.script;
  return flags;
}

}  // namespace odori::grader
