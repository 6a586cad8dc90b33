// SPDX-License-Identifier: Apache-2.0
#include "classroom/regrade_class.h"

#include <fmt/core.h>

#include <set>

namespace odori::grader {
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
