// SPDX-License-Identifier: Apache-2.0
#include "blanks/task.h"
#include "flags/command_line.h"
#include "learner/commands.h"

namespace odori::grader {
namespace {

void add_command(CommandLine& line, Flags& flags, const char* command, const char* what) {
  FlagSet added = line.add_command(command, what);
  added.add_option("--kit", flags.kit, "The kit's folder").capture_default_str();
  added.add_option("--build", flags.build, "The folder that the kit is built in").capture_default_str();
  added.add_option("task", flags.task, "Which task").check(line.one_of(names_of_tasks()));
}

void add_check(CommandLine& line, Flags& flags) {
  add_command(line, flags, "check", "Judges your answers to a task, blank by blank");
  FlagSet check = line.command("check");
  check.add_flag_callback(
      "--no-speedup", [&flags] { flags.speedup = false; }, "Don't measure the speedup, which takes the longest");
  check.add_flag("--apart", flags.apart).hidden();  // hidden: for ./odori grade
  check.add_option("--json", flags.json, "Write the verdicts into this file as well");
  check.add_option("--program", flags.program, "The program to judge, instead of the one below exercises/");
  check.add_option("--script", flags.script, "The job script to judge, instead of the one below jobscripts/");
  check.add_option("--seed", flags.seed, "Of the data that the checks train on; without it, a new one each time")
      .check(line.number<std::uint64_t>(
          {"a whole number from 0 to 18446744073709551615", "0 から 18446744073709551615 までの整数"},
          [](std::uint64_t) { return true; }));
  check.add_option("--out", flags.out, "The folder for pages; without it, out/check/TASK");
  check.add_flag("--sandbox", flags.sandbox, "Build and run the answers in a sandbox, as somebody else's");
  check.add_option("--hide", flags.hidden,
                   "With --sandbox: a folder that the answers may see nothing of, as of the kit");
}

void add_other_commands(CommandLine& line, Flags& flags) {
  add_command(line, flags, "ready", "Says what keeps a task from being submitted; ./odori submit asks this first");
  add_command(line, flags, "status", "Shows the verdicts and points so far, of one task or of all");
  add_command(line, flags, "watch", "Checks again after each save, without the speedup");
  add_command(line, flags, "reset", "Empties your blanks again, and keeps a copy of your answers");
  add_command(line, flags, "solution", "Shows the kit's answers, after you passed or said yes");
  for (const char* command : {"reset", "solution"})
    line.command(command)
        .add_option("blank", flags.blank, "The number of a blank; without it, all blanks")
        .check(line.whole_number(1, 99));
  line.command("solution").add_flag("--yes", flags.yes, "Show it, whether it was passed or not");
}

Text which_task(const std::string& command) {
  Text text{"Which task?", "どのタスクですか。"};
  for (const Task& task : all_tasks()) {
    text.english += fmt::format("\n  ./odori {} {:12} {}", command, task.name, task.title.english);
    text.japanese += fmt::format("\n  ./odori {} {:12} {}", command, task.name, task.title.japanese);
  }
  return text;
}

}  // namespace

Flags parse_flags(int argc, char** argv) {
  Flags flags{.kit = ODORI_FOLDER, .build = ODORI_BUILD_FOLDER};
  CommandLine line("Judges answers to the exercises.", "./odori", argc, argv);
  add_check(line, flags);
  add_other_commands(line, flags);
  line.parse();
  flags.command = line.chosen_command();
  if (flags.task.empty() && flags.command != "status") throw UsageError(line.say(which_task(flags.command)));
  flags.build = std::filesystem::absolute(flags.build);  // compilers run in other folders
  if (flags.task.empty()) return flags;
  const Task& task = task_named(flags.task);
  if (flags.program.empty()) flags.program = flags.kit / task.program.exercise;
  if (flags.script.empty() && task.script) flags.script = flags.kit / task.script->exercise;
  if (flags.out.empty()) flags.out = flags.kit / "out" / "check" / task.name;
  return flags;
}

}  // namespace odori::grader
