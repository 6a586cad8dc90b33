// SPDX-License-Identifier: Apache-2.0
#include "classroom/regrade_class.h"

#include <fmt/core.h>

#include <set>

namespace odori::grader {
namespace {

/// "WRONG 0/10", or "-".
std::string mark_of(const BlankVerdict* verdict) {
  return verdict ? fmt::format("{} {:g}/{:g}", name_of(verdict->verdict), verdict->points, verdict->of) : "-";
}

/// "65/80 (81.25 %)", as the reports have it; "-" where there is no mark.
std::string total_of(const StudentRecord& student, const Course& course) {
  const StudentMarks marks = marks_of(student, course);
  if (!marks.points || marks.of <= 0) return "-";
  return fmt::format("{}/{} ({} %)", number(*marks.points), number(marks.of), number(100 * *marks.points / marks.of));
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
        add(task, verdict.blank == 0 ? messages.text("name_speedup") : std::to_string(verdict.blank), mark_of(was),
            mark_of(&verdict));
        points += verdict.points - (was ? was->points : 0);
      }
    }
    const std::string old = total_of(before, before_course), fresh = total_of(after, after_course);
    if (old != fresh) students.insert(after.name);
    if (students.contains(after.name)) rows.push_back({after.name, messages.text("regrade_total"), "", old, fresh});
  }
  if (students.empty()) return false;
  for (const std::string& line : table_lines(rows)) screen.line(line);
  screen.say("regrade_changes", {{"n", std::to_string(n_changes)},
                                 {"students", std::to_string(students.size())},
                                 {"points", fmt::format("{:+g}", points)}});
  return true;
}

}  // namespace odori::grader
