// SPDX-License-Identifier: Apache-2.0
// Whose answers an instructor should look at, and why: one entry for each student, the most serious first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "classroom/reports/marks.h"

namespace odori::grader {

struct Reason {
  std::vector<std::string> tasks;  // names, in the order of the course
  Finding why;
  int rank = 0;  // the smaller, the more serious
};

struct Look {
  const StudentMarks* student = nullptr;
  std::vector<Reason> reasons;  // the most serious first; one that holds for several tasks is in the list once
};

/// The students with a reason. Order: ungraded, commands outside the blanks, refused and unusual names, several
/// files, identical files, everything else, nothing usable. Equal ones keep the order of `students`, which have to
/// outlive the result.
std::vector<Look> looks_of(std::span<const StudentMarks> students);

/// Finds answers of several students that are equal byte for byte (the same `content`), and sets `alike` and
/// `needs_look` of their marks. Absent answers, and those with every blank UNFILLED, are nobody's.
void find_alike(std::span<StudentMarks> students);

}  // namespace odori::grader
