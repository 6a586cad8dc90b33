// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/marks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "classroom/reports/sanitized.h"

namespace odori::grader {
namespace {

/// Neither way: the machine can't tell, or nobody asked.
bool is_taken_out(const BlankVerdict& verdict) {
  return verdict.verdict == Verdict::inconclusive ||
         (verdict.blank == 0 && (verdict.verdict == Verdict::environment ||
                                 (verdict.finding && verdict.finding->key == "speedup_not_asked")));
}

/// What check says is for a learner at work, who gave it a flag and can get a file back. In a class it is neither.
void tell_a_class(Mark& mark) {
  std::optional<Finding>& finding = mark.verdict->finding;
  const bool not_measured =
      mark.verdict->verdict == Verdict::not_checked || mark.verdict->verdict == Verdict::environment;
  if (mark.blank == 0 && !mark.counts && not_measured)
    finding = Finding{"speedup_not_measured", {}};
  else if (finding && finding->key == "file_missing")
    finding->key = "file_not_handed_in";
}

TaskMarks marks_of_task(const Task& task, const TaskRecord* record, const Course& course) {
  TaskMarks marks{.task = &task_named(task.name), .record = record};
  const bool marked = record && record->state == RecordState::marked && record->check;
  if (marked || (record && record->state == RecordState::absent)) marks.points = 0;
  const auto& points_of = course.points_of.at(task.name);
  for (const int blank : task.judged()) {
    Mark mark{.blank = blank};
    mark.of = points_of.at(mark.blank);
    // Where nobody's speedup is measured, one wrong blank doesn't cost it either.
    mark.counts = mark.blank != 0 || course.timings;
    if (const BlankVerdict* verdict = marked ? record->check->on(blank) : nullptr) {
      mark.verdict = *verdict;
      mark.of = mark.verdict->of;
      mark.counts = mark.counts && !is_taken_out(*mark.verdict);
      if (mark.counts) *marks.points += mark.verdict->points;
      tell_a_class(mark);
    }
    marks.full += mark.of;
    if (mark.counts) marks.of += mark.of;
    marks.marks.push_back(std::move(mark));
  }
  return marks;
}

}  // namespace

std::optional<double> StudentMarks::scaled() const {
  if (!points) return std::nullopt;
  return of > 0 ? std::round(100 * *points / of * full) / 100 : 0;
}

StudentMarks marks_of(const StudentRecord& student, const Course& course) {
  StudentMarks marks;
  marks.record = sanitized(student);
  marks.name = marks.record.name;
  marks.folder = student.name;
  marks.points = 0;
  for (const Task& task : course.tasks) {
    const auto found = marks.record.tasks.find(task.name);
    const TaskRecord* record = found == marks.record.tasks.end() ? nullptr : &found->second;
    TaskMarks& of_task = marks.tasks.emplace_back(marks_of_task(task, record, course));
    marks.points = marks.points && of_task.points ? std::optional(*marks.points + *of_task.points) : std::nullopt;
    marks.of += of_task.of;
    marks.full += of_task.full;
    marks.needs_look |= record && (!record->flags.empty() || why_ungraded(*record));
  }
  return marks;
}

TaskMarks marks_of(const TaskRecord& record, const Course& course) {
  return marks_of_task(task_named(record.task), &record, course);
}

std::string state_of(const TaskMarks& task) { return task.record ? name_of(task.record->state) : "waiting"; }

std::string number(double points) { return fmt::format("{:g}", std::round(100 * points) / 100); }

}  // namespace odori::grader
