// SPDX-License-Identifier: Apache-2.0
// What a student gets: the one place that adds up points, for all reports.
//
// Each task is worth 100 points, and so is the whole: the mean of the tasks by their weights. Of a task's 100 points
// the speedup has those of course.json (none if speedups are not measured), and the blanks share the others as
// exercise.json has it. A speedup that this machine can't judge is left out: its blanks are worth 100 then.
//
// Ungraded is no mark: a task that this machine couldn't judge has no points, and neither has the student in all.
// Absent is 0. Overrides and what lateness costs (../course) are applied here, so that they outlive each marking.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "classroom/course/overrides.h"
#include "classroom/course/settings.h"
#include "classroom/marking/record.h"
#include "messages/messages.h"

namespace odori::grader {

/// What all reports of a class share: what it was asked, what that is worth, and in which language.
struct Course {
  std::string title;                                       // the instructor's name for it
  std::string date;                                        // of this report, as it is to be printed
  std::vector<Task> tasks;                                 // that are marked, in order
  std::map<std::string, std::map<int, double>> points_of;  // by task and blank (0: the speedup): points_of_class()
  Messages english, japanese;
  bool timings = false;  // whether speedups are measured, and count
  Terms terms;
  Overrides overrides;
  std::string language = "en";  // of the files for upload

  const Messages& messages() const { return language == "ja" ? japanese : english; }
};

/// What each blank of a task, and 0 for its speedup, is worth of its 100 points: `points` of exercise.json by the terms
/// of a class. The speedup is not in it if speedups are not measured.
std::map<int, double> points_of_class(const std::map<int, double>& points, const Terms& terms);

/// A blank's line in a report.
struct Mark {
  int blank = 0;                        // 0: the speedup, the last line
  std::optional<BlankVerdict> verdict;  // none: nothing was judged (absent, ungraded, waiting); points as in `of`
  double of = 0;
  bool counts = true;                     // false: taken out of the total
  std::optional<Override> override = {};  // then verdict->points are the override's
  std::optional<double> points = {};      // that count; none: nothing was judged, or it does not count
};

struct TaskMarks {
  const Task* task = nullptr;          // of all_tasks()
  const TaskRecord* record = nullptr;  // null: not marked yet
  std::vector<Mark> marks;
  std::optional<double> points;  // none: ungraded, or not marked yet
  double of = 100;
  std::optional<Override> override;         // of the whole task
  std::optional<Late> late;                 // after the deadline; `deducted` is what was taken from `points`
  std::optional<std::string> late_comment;  // of an override of `late`
  std::vector<std::string> alike = {};      // students with the same files (find_alike)
};

struct StudentMarks {
  std::string name;              // as it is to be shown: the person's, or those of a group
  std::string folder;            // its own name, below RESULTS/students: for links alone
  StudentRecord record;          // with every text sanitized
  std::vector<TaskMarks> tasks;  // as the course has them
  std::optional<double> points;  // none if a task has none
  double of = 100;
  bool needs_look = false;  // flagged, or ungraded

  StudentMarks() = default;
  StudentMarks(StudentMarks&&) = default;  // a copy's `tasks` would point into the other's record
  StudentMarks& operator=(StudentMarks&&) = default;
};

StudentMarks marks_of(const StudentRecord& student, const Course& course);

/// Those of one record alone, its texts as they are. It has to outlive them.
TaskMarks marks_of(const TaskRecord& record, const Course& course);

/// What changed a task's points in addition to the verdicts, to be said on every report: overrides with their comments,
/// and what lateness cost.
std::vector<Finding> adjustments_of(const TaskMarks& task);

/// "marked", "ungraded", "absent" or "waiting".
std::string state_of(const TaskMarks& task);

/// To two digits after the point.
double rounded(double points);

/// 20, or 7.5: at most two digits after the point.
std::string number(double points);
/// Empty without points.
std::string number_if_any(const std::optional<double>& points);

}  // namespace odori::grader
