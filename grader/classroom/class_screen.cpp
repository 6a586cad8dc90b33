// SPDX-License-Identifier: Apache-2.0
#include "classroom/class_screen.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "classroom/reports/sanitized.h"
#include "train/terminal.h"

namespace odori::grader {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_on_screen = 4000;  // letters at once

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string minutes_and_seconds(double seconds) {
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

Finding line_of(const TaskRecord& record, const TaskMarks& marks) {
  std::map<std::string, std::string> values{{"student", record.student}, {"task", record.task}};
  if (ungraded_speedup(record)) return {"batch_speedup_ungraded", values};
  if (record.state != RecordState::marked)
    return {record.state == RecordState::absent ? "batch_absent" : "batch_ungraded", values};
  values.insert({{"points", number(marks.points.value_or(0))}, {"total", number(marks.of)}});
  return {record.flags.empty() ? "batch_marked" : "batch_flagged", values};
}

}  // namespace

ClassScreen::ClassScreen(const Messages& messages) : messages_(messages), terminal_(on_terminal()) {}

void ClassScreen::say(const Finding& finding) { print(messages_.text(finding)); }

void ClassScreen::record(const TaskRecord& record, const TaskMarks& marks, const std::string& before,
                         const Progress& progress) {
  std::string line = messages_.text(line_of(record, marks));
  // What was there instead comes first among an absent one's flags.
  if (record.state == RecordState::absent && record.flags.size() > 1)
    line += ' ' + messages_.text(record.flags.front());
  if (!before.empty()) line += ' ' + messages_.text("batch_instead_of", {{"before", before}});
  print(fmt::format("[{:>{}}/{}] {}", progress.done, std::to_string(progress.of).size(), progress.of, line));
}

void ClassScreen::tell_of_waiting(const std::string& who) {
  if (who.empty()) {
    waiting_since_ = Clock::now();
    told_of_waiting_ = false;
  } else if (Clock::now() - waiting_since_ > 2s && !std::exchange(told_of_waiting_, true)) {
    say("batch_waits", {{"who", who}});
  }
}

void ClassScreen::progress(const Progress& progress) {
  tell_of_waiting(progress.waits_for);
  if (!terminal_ || Clock::now() - last_ < 200ms) return;
  last_ = Clock::now();
  std::string under_way;
  for (const std::string& one : progress.under_way) under_way += (under_way.empty() ? "" : ", ") + one;
  const std::string left = progress.seconds_left < 0 ? "-" : minutes_and_seconds(progress.seconds_left);
  const std::string line =
      messages_.text(progress.timing ? "batch_timing" : "batch_marking", {{"done", std::to_string(progress.done)},
                                                                          {"of", std::to_string(progress.of)},
                                                                          {"left", left},
                                                                          {"names", under_way}});
  fmt::print("\r\033[K{}", cut_to(sanitized_line(line, most_on_screen), terminal_width() - 1));
  std::fflush(stdout);
  drawn_ = true;
}

void ClassScreen::clear() {
  if (drawn_) fmt::print("\r\033[K");
  drawn_ = false;
  std::fflush(stdout);
}

void ClassScreen::line(const std::string& line) {
  clear();
  fmt::print("{}\n", sanitized_line(line, most_on_screen));
}

void ClassScreen::print(const std::string& lines) {
  clear();
  const std::string shown = sanitized(lines, most_on_screen);
  for (const std::string& part : terminal_ ? wrap(shown, terminal_width(), 0) : std::vector{shown})
    fmt::print("{}\n", part);
  std::fflush(stdout);
}

namespace {

/// "WRONG 0/10", by what the blank is worth after the change; "-" without a verdict.
std::string mark_of(const BlankVerdict* verdict, double worth) {
  if (verdict == nullptr) return "-";
  const double points = verdict->of > 0 ? verdict->points * worth / verdict->of : 0;
  return fmt::format("{} {}/{}", name_of(verdict->verdict), number(points), number(worth));
}

/// "81.25/100", as the reports have it; "-" where there is no mark.
std::string total_of(const StudentMarks& marks) {
  return marks.points ? number(*marks.points) + '/' + number(marks.of) : "-";
}

}  // namespace

bool print_changes(const Regrade& regrade, const Course& before_course, const Course& after_course,
                   const Messages& messages, ClassScreen& screen) {
  std::vector<std::vector<std::string>> rows{{messages.text("regrade_student"), messages.text("regrade_task"),
                                              messages.text("regrade_blank"), messages.text("regrade_before"),
                                              messages.text("regrade_after")}};
  std::set<std::string> students;
  int n_changes = 0;
  double points = 0;
  for (const auto& [before, after] : regrade.students()) {
    const auto add = [&, &name = after.name](const std::string& task, const std::string& blank, const std::string& old,
                                             const std::string& fresh) {
      if (old == fresh) return;
      rows.push_back({name, task, blank, old, fresh});
      students.insert(name);
      ++n_changes;
    };
    for (const auto& [task, record] : after.tasks) {
      const auto found = before.tasks.find(task);
      const TaskRecord* old = found == before.tasks.end() ? nullptr : &found->second;
      add(task, "-", old ? name_of(old->state) : "-", name_of(record.state));
      if (!record.check) continue;
      for (const BlankVerdict& verdict : record.check->verdicts) {
        const BlankVerdict* was = old && old->check ? old->check->on(verdict.blank) : nullptr;
        const auto task_points = after_course.points_of.find(task);
        if (task_points == after_course.points_of.end()) continue;
        const auto worth = task_points->second.find(verdict.blank);
        if (worth == task_points->second.end()) continue;
        add(task, verdict.blank == 0 ? messages.text("name_speedup") : std::to_string(verdict.blank),
            mark_of(was, worth->second), mark_of(&verdict, worth->second));
      }
    }
    const StudentMarks old_marks = marks_of(before, before_course), fresh_marks = marks_of(after, after_course);
    const std::string old = total_of(old_marks), fresh = total_of(fresh_marks);
    points += fresh_marks.points.value_or(0) - old_marks.points.value_or(0);
    if (old != fresh) students.insert(after.name);
    if (students.contains(after.name)) rows.push_back({after.name, messages.text("regrade_total"), "", old, fresh});
  }
  if (students.empty()) return false;
  for (const std::string& line : table_lines(rows)) screen.line(line);
  screen.say("regrade_changes", {{"n", std::to_string(n_changes)},
                                 {"students", std::to_string(students.size())},
                                 {"points", (points < 0 ? "" : "+") + number(points)}});
  return true;
}

}  // namespace odori::grader
