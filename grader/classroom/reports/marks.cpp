// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/marks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "classroom/reports/sanitized.h"

namespace odori::grader {
namespace {

/// Neither way: the machine can't tell, or nobody asked.
bool is_taken_out(const BlankVerdict& verdict) {
  return verdict.verdict == Verdict::inconclusive ||
         (verdict.blank == 0 && (verdict.verdict == Verdict::environment ||
                                 (verdict.finding && verdict.finding->key == "speedup_not_asked")));
}

/// What check says is for a learner at work, who gave it a flag and can get a file back. In a class it is neither. A
/// file's folder is the student's name, which anonymous pages must not hold.
void tell_a_class(Mark& mark) {
  std::optional<Finding>& finding = mark.verdict->finding;
  const bool not_measured =
      mark.verdict->verdict == Verdict::not_checked || mark.verdict->verdict == Verdict::environment;
  if (mark.blank == 0 && !mark.counts && not_measured)
    finding = Finding{"speedup_not_measured", {}};
  else if (finding && finding->key == "file_missing")
    finding->key = "file_not_handed_in";
  if (!finding) return;
  if (const auto file = finding->values.find("file"); file != finding->values.end())
    file->second = std::filesystem::path(file->second).filename().string();
}

/// A verdict in the points of the class, whatever points the grader gave it.
void scale(BlankVerdict& verdict, double of) {
  verdict.points = verdict.of > 0 ? verdict.points * of / verdict.of : 0;
  verdict.of = of;
}

const Override* override_of(const StudentOverrides& overrides, const std::string& task, int blank) {
  const auto found = overrides.points.find({task, blank});
  return found == overrides.points.end() ? nullptr : &found->second;
}

Override fit_to_show(const Override& one) { return {one.points, sanitized_line(one.comment)}; }

Mark mark_of(const Task& task, int blank, double of, const TaskRecord* record, const StudentOverrides& overrides) {
  Mark mark{.blank = blank, .verdict = {}, .of = of};
  if (const BlankVerdict* verdict = record && record->check ? record->check->on(blank) : nullptr) {
    mark.verdict = *verdict;
    scale(*mark.verdict, of);
    mark.counts = !is_taken_out(*mark.verdict);
    tell_a_class(mark);
  }
  if (const Override* override = override_of(overrides, task.name, blank)) {
    mark.override = fit_to_show(*override);
    mark.counts = true;
    if (mark.verdict) mark.verdict->points = override->points;
  }
  if (mark.counts && mark.override) mark.points = mark.override->points;
  if (mark.counts && !mark.override && mark.verdict) mark.points = mark.verdict->points;
  return mark;
}

/// What a submission after the deadline costs, or what an instructor says that it does.
void deduct(TaskMarks& marks, const Course& course, const StudentOverrides& overrides) {
  marks.late = late_of(course.terms, marks.record ? marks.record->submitted : 0);
  if (!marks.late || !marks.points || marks.override) return;
  if (const auto found = overrides.late.find(marks.task->name); found != overrides.late.end()) {
    marks.late->refused = false;
    marks.late->deducted = found->second.points;
    marks.late_comment = sanitized_line(found->second.comment);
  }
  marks.late->deducted = std::min(marks.late->deducted, *marks.points);
  *marks.points -= marks.late->deducted;
}

TaskMarks marks_of_task(const Task& task, const TaskRecord* record, const Course& course,
                        const StudentOverrides& overrides) {
  TaskMarks marks{.task = &task_named(task.name), .record = record, .marks = {}, .points = {}};
  double points = 0, of = 0;
  const auto& points_of = course.points_of.at(task.name);
  for (const int blank : task.judged()) {
    const auto worth = points_of.find(blank);
    if (worth == points_of.end()) continue;  // nobody's speedup is measured
    const Mark& mark = marks.marks.emplace_back(mark_of(task, blank, worth->second, record, overrides));
    if (mark.counts) of += mark.of;
    points += mark.points.value_or(0);
  }
  if (record && record->state != RecordState::ungraded) marks.points = of > 0 ? all_points * points / of : 0;
  if (const Override* override = override_of(overrides, task.name, whole_task)) {
    marks.override = fit_to_show(*override);
    marks.points = override->points;
  }
  deduct(marks, course, overrides);
  return marks;
}

const StudentOverrides& overrides_of(const std::string& student, const Course& course) {
  static const StudentOverrides none;
  const auto found = course.overrides.find(student);
  return found == course.overrides.end() ? none : found->second;
}

std::string name_of(const StudentRecord& student) {
  std::string names;
  for (const Person& person : student.people) {
    const std::string& name = person.name.empty() ? person.email : person.name;
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? student.name : names;
}

}  // namespace

std::map<int, double> points_of_class(const std::map<int, double>& points, const Terms& terms) {
  double blanks = 0;
  for (const auto& [blank, worth] : points)
    if (blank != 0) blanks += worth;
  const double speedup = points.contains(0) ? terms.speedup : 0;
  std::map<int, double> scaled;
  for (const auto& [blank, worth] : points)
    if (blank != 0) scaled[blank] = worth * (all_points - speedup) / blanks;
  if (speedup > 0) scaled[0] = speedup;
  return scaled;
}

StudentMarks marks_of(const StudentRecord& student, const Course& course) {
  StudentMarks marks;
  marks.record = sanitized(student);
  marks.name = sanitized_line(name_of(student));
  marks.folder = student.name;
  double points = 0, weights = 0;
  bool has_all = true;
  for (const Task& task : course.tasks) {
    const auto found = marks.record.tasks.find(task.name);
    const TaskRecord* record = found == marks.record.tasks.end() ? nullptr : &found->second;
    const TaskMarks& of_task =
        marks.tasks.emplace_back(marks_of_task(task, record, course, overrides_of(student.name, course)));
    const double weight = course.terms.weights.at(task.name);
    has_all &= of_task.points.has_value();
    points += weight * of_task.points.value_or(0);
    weights += weight;
    marks.needs_look |=
        record && (record->state != RecordState::marked || !record->flags.empty() || why_ungraded(*record));
  }
  if (has_all) marks.points = points / weights;
  return marks;
}

TaskMarks marks_of(const TaskRecord& record, const Course& course) {
  return marks_of_task(task_named(record.task), &record, course, overrides_of(record.student, course));
}

std::vector<Finding> adjustments_of(const TaskMarks& task) {
  std::vector<Finding> adjustments;
  const auto add = [&](const char* key, double points, double of, int blank, const std::string& comment) {
    adjustments.push_back({key,
                           {{"task", task.task->name},
                            {"blank", std::to_string(blank)},
                            {"points", number(points)},
                            {"of", number(of)},
                            {"days", task.late ? number(task.late->days) : ""},
                            {"comment", comment}}});
  };
  for (const Mark& mark : task.marks)
    if (mark.override)
      add(mark.blank == 0 ? "override_speedup" : "override_blank", mark.override->points, mark.of, mark.blank,
          mark.override->comment);
  if (task.override) add("override_task", task.override->points, task.of, 0, task.override->comment);
  if (task.late && !task.override)
    add(task.late->refused ? "late_refused" : "late_deducted", task.late->deducted, task.of, 0,
        task.late_comment.value_or(""));
  return adjustments;
}

std::string state_of(const TaskMarks& task) { return task.record ? name_of(task.record->state) : "waiting"; }

double rounded(double points) { return std::round(100 * points) / 100; }

std::string number(double points) { return fmt::format("{:g}", rounded(points)); }

std::string number_if_any(const std::optional<double>& points) { return points ? number(*points) : ""; }

}  // namespace odori::grader
