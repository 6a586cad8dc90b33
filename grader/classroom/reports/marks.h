// SPDX-License-Identifier: Apache-2.0
// What a student gets: the one place that adds up points, for all reports.
//
// Ungraded is no mark: a task that this machine couldn't judge has no points, and neither has the student in all.
// Absent is 0. What can't be measured, or wasn't, is taken out of the total: 80 of 80 counts as much as 100 of 100.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "classroom/marking/record.h"
#include "messages/messages.h"

namespace odori::grader {

/// What all reports of a class share: what it was asked, what that is worth, and in which language.
struct Course {
  std::string title;                                       // the instructor's name for it: that of the submissions
  std::string date;                                        // of this report, as it is to be printed
  std::vector<Task> tasks;                                 // that are marked, in order
  std::map<std::string, std::map<int, double>> points_of;  // by task and blank; 0: the speedup
  Messages english, japanese;
  bool timings = false;  // whether speedups are measured, and count
};

/// A blank's line in a report.
struct Mark {
  int blank = 0;                        // 0: the speedup, the last line
  std::optional<BlankVerdict> verdict;  // none: nothing was judged (absent, ungraded, waiting)
  double of = 0;
  bool counts = true;  // false: taken out of the total
};

struct TaskMarks {
  const Task* task = nullptr;          // of all_tasks()
  const TaskRecord* record = nullptr;  // null: not marked yet
  std::vector<Mark> marks;
  std::optional<double> points;         // none: ungraded, or not marked yet
  double of = 0;                        // what they could be, without what doesn't count
  double full = 0;                      // with it
  std::vector<std::string> alike = {};  // students with the same files (find_alike)
};

struct StudentMarks {
  std::string name;              // as it is to be shown
  std::string folder;            // its own name, below RESULTS/students: for links alone
  StudentRecord record;          // with every text sanitized
  std::vector<TaskMarks> tasks;  // as the course has them
  std::optional<double> points;  // none if a task has none
  double of = 0, full = 0;
  bool needs_look = false;  // flagged, or ungraded

  /// Points as they count where the total is fixed: points / of, of `full`.
  std::optional<double> scaled() const;

  StudentMarks() = default;
  StudentMarks(StudentMarks&&) = default;  // a copy's `tasks` would point into the other's record
  StudentMarks& operator=(StudentMarks&&) = default;
};

StudentMarks marks_of(const StudentRecord& student, const Course& course);

/// Those of one record alone, its texts as they are. It has to outlive them.
TaskMarks marks_of(const TaskRecord& record, const Course& course);

/// "marked", "ungraded", "absent" or "waiting".
std::string state_of(const TaskMarks& task);

/// 20, or 7.5: at most two digits after the point.
std::string number(double points);

}  // namespace odori::grader
