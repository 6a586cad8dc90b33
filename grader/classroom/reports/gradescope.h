// A student's results.json, as Gradescope's autograders write it.
//
// The form is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/. Where it leaves a choice:
// - `score` is of all tasks' points (200): if something is taken out of the total (a speedup that this machine can't
//   judge), it is scaled up to them, since the assignment's total in Gradescope is fixed.
// - Ungraded is no score: neither `score` nor a test's is there then, so that nothing can be summed up; `extra_data`
//   says "ungraded", and which tasks are to be marked again.
// - No test is hidden: hidden ones would hide the score from students. What instructors alone should know (flags) isn't
// in
//   this file at all, since students can see it.
// - Outputs are "text", in which Gradescope renders neither HTML nor Markdown nor ANSI.
#pragma once

#include <string>

#include "classroom/reports/marks.h"

namespace odori::grader {

std::string gradescope_of(const StudentMarks& student, const Course& course);

}  // namespace odori::grader
