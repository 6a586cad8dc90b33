#include "classroom/regrade_class.h"

#include <fmt/core.h>

#include <set>

namespace odori::grader {
namespace {

std::string mark_of(const std::optional<BlankVerdict>& verdict) {
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
  const std::vector<ChangedVerdict> changes = regrade.changes();
  std::vector<std::vector<std::string>> rows{{messages.text("regrade_student"), messages.text("regrade_task"),
                                              messages.text("regrade_blank"), messages.text("regrade_before"),
                                              messages.text("regrade_after")}};
  std::set<std::string> students;
  double sum = 0;
  for (const ChangedVerdict& change : changes) {
    students.insert(change.student);
    if (change.after) sum += change.after->points - (change.before ? change.before->points : 0);
    if (change.blank)
      rows.push_back({change.student, change.task,
                      *change.blank == 0 ? messages.text("name_speedup") : std::to_string(*change.blank),
                      mark_of(change.before), mark_of(change.after)});
    else
      rows.push_back({change.student, change.task, "-", change.state_before.empty() ? "-" : change.state_before,
                      change.state_after});
  }
  for (const auto& [before, after] : regrade.students()) {
    const std::string old = total_of(before, before_course), fresh = total_of(after, after_course);
    if (old != fresh) students.insert(after.name);
    if (students.contains(after.name)) rows.push_back({after.name, messages.text("regrade_total"), "", old, fresh});
  }
  if (students.empty()) return false;
  for (const std::string& line : table_lines(rows)) screen.line(line);
  screen.say("regrade_changes", {{"n", std::to_string(changes.size())},
                                 {"students", std::to_string(students.size())},
                                 {"points", fmt::format("{:+g}", sum)}});
  return true;
}

}  // namespace odori::grader
