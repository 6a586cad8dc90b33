// SPDX-License-Identifier: Apache-2.0
#include "learner/commands.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "blanks/cutter.h"
#include "blanks/submission.h"
#include "blanks/task.h"
#include "errors/error.h"
#include "files/file.h"
#include "learner/state.h"
#include "messages/messages.h"
#include "runner/site.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// One of a task's two files: the learner's, the kit's answer, and how it is cut.
struct File {
  fs::path path, shown;  // the learner's; the same relative to the kit, for messages
  std::string answer, pristine;
};

struct Place {
  const Task& task;
  std::vector<File> files;  // as Task::files()

  explicit Place(const Flags& flags, const Task& asked) : task(asked) {
    for (const auto& [exercise, solution] : task.files()) {
      const std::string answer = read_file(flags.kit / solution);
      require(!answer.empty(), "There is no {}. --kit names the kit's folder.", (flags.kit / solution).string());
      files.push_back({flags.kit / exercise, exercise, answer, cut(answer, solution.string())});
    }
  }
  const File& of(int blank) const { return task.is_in_script(blank) ? files.back() : files.front(); }
};

const Blank& blank_in(const std::vector<Blank>& blanks, int number) {
  for (const Blank& blank : blanks)
    if (blank.number == number) return blank;
  fail("The kit's own file lacks blank {}. `git status` shows what was changed.", number);
}

std::vector<Blank> blanks_of(const std::string& text, const File& file) {
  return parse_blanks(split_lines(text), file.shown.string());
}

/// The kit's job scripts are for nodes of two devices: what else this cluster's take.
void print_devices_here(const Task& task, const Flags& flags, const Messages& messages) try {
  const int devices = devices_of(task, flags.kit);
  if (devices != 2)
    fmt::print("{}\n", messages.text("solution_here_" + task.name, {{"devices", std::to_string(devices)}}));
} catch (const EnvironmentFault& fault) {
  fmt::print("{}\n", messages.text(fault.finding()));
}

State read_state(const Flags& flags, const Messages& messages) {
  const fs::path file = state_file(flags.kit);
  State state(file);
  if (state.damaged()) fmt::print("{}\n\n", messages.text("state_damaged", {{"file", file.string() + ".damaged"}}));
  return state;
}

struct StatusRow {
  std::string verdict;
  double points = 0, of = 0;
  bool changed = false;  // since it was judged
};

/// What is known of one blank, given its text now (null: it can't be found).
/// The verdict is "-" if it was never judged.
StatusRow row_of(const std::optional<Remembered>& seen, double of, const Blank* now, Language language,
                 const Messages& messages) {
  const bool empty = now != nullptr && is_left_empty(*now, language);
  if (!seen) return {empty ? "UNFILLED" : "-", 0, of};
  StatusRow row{seen->verdict, seen->points, seen->of};
  if (seen->verdict == "INCONCLUSIVE") row.of = 0;
  row.changed = now != nullptr && fingerprint(now->text) != seen->text;
  if (row.changed) row.verdict += fmt::format(" ({})", messages.text("status_changed"));
  return row;
}

void print_task(const Flags& flags, const Task& task, int number, const State& state, const Messages& messages) {
  const Place place(flags, task);
  const auto points_of_blank = points_of(task, flags.kit);
  std::map<int, Blank> texts;
  for (const File& file : place.files) texts.merge(read_submission(file.path, file.pristine).blanks);
  std::vector<std::pair<int, StatusRow>> rows;
  double points = 0, of = 0;
  bool known = false, changed = false;
  for (const int blank : task.judged()) {
    const auto found = texts.find(blank);
    const auto seen = state.verdict(task.name, blank);
    rows.emplace_back(blank, row_of(seen, points_of_blank.at(blank), found == texts.end() ? nullptr : &found->second,
                                    language_of(place.of(blank).path.string()), messages));
    known = known || seen;
    changed = changed || rows.back().second.changed;
    points += rows.back().second.points;
    of += rows.back().second.of;
  }
  fmt::print("{}\n", messages.text("status_task", {{"number", std::to_string(number)},
                                                   {"task", task.name},
                                                   {"points", fmt::format("{:g}", points)},
                                                   {"of", fmt::format("{:g}", of)}}));
  std::vector<std::vector<std::string>> table{{messages.text("status_blank"), messages.text("status_verdict"),
                                               messages.text("status_points"), messages.text("status_hints"), ""}};
  for (const auto& [blank, row] : rows) {
    const int hints = state.hints(task.name, blank);
    table.push_back({blank == 0 ? "-" : std::to_string(blank), row.verdict,
                     fmt::format("{:g}/{:g}", row.points, row.of), hints == 0 ? "-" : std::to_string(hints),
                     messages.text(name_key(task, blank))});
  }
  for (const std::string& line : table_lines(table)) fmt::print("  {}\n", line);
  if (flags.command == "watch") return;  // it prints its keys
  const char* next = !known ? "status_never" : points == of && !changed ? "next_done" : "status_next";
  fmt::print("{}\n", messages.text(next, {{"task", task.name}}));
}

/// Returns whether all went well; what was there is kept.
bool reset_file(const File& file, const Flags& flags, const Messages& messages) {
  const std::map<std::string, std::string> values{
      {"file", file.shown.string()}, {"task", flags.task}, {"blank", std::to_string(flags.blank.value_or(0))}};
  std::string text = file.pristine, done = "reset_file";
  if (flags.blank) {
    const Submission mine = read_submission(file.path, file.pristine);
    if (const auto why = mine.unreadable.find(*flags.blank); why != mine.unreadable.end()) {
      fmt::print("{}\n{}\n", messages.text(why->second), messages.text("reset_unreadable", values));
      return false;
    }
    const auto pristine = blanks_of(file.pristine, file);
    const Blank& blank = mine.blanks.at(*flags.blank);
    text = join_lines(with_text(mine.lines, blank, blank_in(pristine, *flags.blank).text));
    done = blank.given.empty() ? "reset_blank" : "reset_given";
  }
  if (fs::exists(file.path) && read_file(file.path) == text) {
    fmt::print("{}\n", messages.text("reset_nothing", values));
    return true;
  }
  if (fs::exists(file.path))
    fmt::print("{}\n", messages.text("reset_kept", {{"copy", keep_copy(file.path, flags.kit).string()}}));
  replace_file(file.path, text);
  fmt::print("{}\n", messages.text(done, values));
  return true;
}

void require_blank(const Flags& flags, const Task& task, const Messages& messages) {
  if (flags.blank && (*flags.blank < 1 || *flags.blank > task.n_blanks()))
    throw UsageError(messages.text(
        "no_such_blank",
        {{"task", task.name}, {"blank", std::to_string(*flags.blank)}, {"last", std::to_string(task.n_blanks())}}));
}

/// The exercise asks in English; in another language the blank's name stands for its question.
std::string question_of(const Task& task, const Blank& blank, const Messages& messages) {
  return messages.language() == "en" ? blank.question : messages.text(name_key(task, blank.number));
}

bool says_yes() {
  if (::isatty(STDIN_FILENO) == 0) return false;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "yes" || answer == "Yes" || answer == "YES" || answer == "はい");
}

bool passed(const State& state, const Task& task, const std::vector<int>& blanks) {
  return std::all_of(blanks.begin(), blanks.end(), [&](int blank) {
    const auto seen = state.verdict(task.name, blank);
    return seen && seen->verdict == "PASS";
  });
}

}  // namespace

int status(const Flags& flags) {
  const Messages messages(flags.kit, language());
  const State state = read_state(flags, messages);
  int number = 0;
  bool first = true;
  for (const Task& task : all_tasks()) {
    ++number;
    if (!flags.task.empty() && flags.task != task.name) continue;
    if (!std::exchange(first, false)) fmt::print("\n");
    print_task(flags, task, number, state, messages);
  }
  return exit_code::ok;
}

int reset(const Flags& flags) {
  const Messages messages(flags.kit, language());
  const Task& task = task_named(flags.task);
  require_blank(flags, task, messages);
  const Place place(flags, task);
  bool well = true;
  for (const File& file : place.files)
    if (!flags.blank || &file == &place.of(*flags.blank)) well = reset_file(file, flags, messages) && well;
  State state = read_state(flags, messages);
  state.forget(task.name, flags.blank);
  if (well) state.save();
  return well ? exit_code::ok : exit_code::failure;
}

int solution(const Flags& flags) {
  const Messages messages(flags.kit, language());
  const Task& task = task_named(flags.task);
  require_blank(flags, task, messages);
  const Place place(flags, task);
  std::vector<int> blanks;
  for (int n = 1; n <= task.n_blanks(); ++n)
    if (!flags.blank || *flags.blank == n) blanks.push_back(n);
  if (!flags.yes && !passed(read_state(flags, messages), task, blanks)) {
    const std::string number = flags.blank ? std::to_string(*flags.blank) : "";
    fmt::print("{} ", messages.text(flags.blank ? "solution_ask" : "solution_ask_all",
                                    {{"task", task.name}, {"blank", number}}));
    std::fflush(stdout);
    if (!says_yes()) {
      fmt::print("\n{}\n", messages.text("solution_not_shown"));
      return exit_code::usage;
    }
  }
  for (const int n : blanks) {
    const File& file = place.of(n);
    const auto answers = blanks_of(file.answer, file);
    const Blank& answer = blank_in(answers, n);
    fmt::print("{}\n{}\n",
               messages.text("solution_title", {{"task", task.name},
                                                {"blank", std::to_string(n)},
                                                {"question", question_of(task, answer, messages)}}),
               join_lines(answer.text));
    if (task.is_in_script(n)) print_devices_here(task, flags, messages);
  }
  return exit_code::ok;
}

std::optional<int> first_not_right(const Flags& flags) {
  const Task& task = task_named(flags.task);
  const State state(state_file(flags.kit));
  for (int n = 1; n <= task.n_blanks(); ++n)
    if (!passed(state, task, {n})) return n;
  return {};
}

}  // namespace odori::grader
