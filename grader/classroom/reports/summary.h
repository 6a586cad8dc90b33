// SPDX-License-Identifier: Apache-2.0
// What a class's marks show together.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classroom/reports/marks.h"

namespace odori::grader {

/// A blank, over all students whose answer to the task was judged.
struct BlankSummary {
  const Task* task = nullptr;
  int blank = 0;
  double of = 0;  // points that it is worth
  std::map<Verdict, int> verdicts;
  double mean_points = 0;  // of those for whom it counts

  /// Of all that were judged, in percent; nothing if none was.
  std::optional<double> share_right() const;
};

/// What several students did wrong in the same way, identified by blank and message key.
struct Misconception {
  const Task* task = nullptr;
  std::optional<int> blank;  // none: it is about the file, and costs several blanks
  Verdict verdict = Verdict::wrong;
  Finding example;  // the first student's
  std::vector<const StudentMarks*> students;
};

struct ClassSummary {
  int n_tasks = 0, n_marked = 0, n_ungraded = 0, n_absent = 0;  // counts of (student, task); the rest is not marked yet
  int n_untimed = 0;             // of the marked ones: their speedup is still to be measured
  std::vector<double> percents;  // of each student with a mark, ascending
  std::vector<BlankSummary> blanks;
  std::vector<Misconception> misconceptions;  // the commonest first

  int n_waiting() const { return n_tasks - n_marked - n_ungraded - n_absent; }
  std::optional<double> mean() const, median() const;  // of `percents`
};

/// Points into `students`, which have to outlive it.
ClassSummary summary_of(std::span<const StudentMarks> students, const Course& course);

}  // namespace odori::grader
