// SPDX-License-Identifier: Apache-2.0
// A class for the tests of its reports: all states and all verdicts, and students who try to break what is made of
// them.
#pragma once

#include <string>
#include <vector>

#include "classroom/marking/record.h"
#include "classroom/reports/marks.h"

namespace odori::grader {

/// The class is marked on all tasks; by default on those that are not optional.
extern bool with_optional_tasks;

/// The kit's tasks, points and messages. `speedup`: its points of a task's 100.
Course course_for_tests(double speedup = 20);

/// What students may call themselves, write, or make a compiler say. A page that takes it for its own runs hacked().
const std::vector<std::string>& hostile_texts();

/// A student all of whose blanks got this verdict, with a message where there is one for it.
StudentRecord student_with(const std::string& name, Verdict verdict);

/// One student for each verdict and state, and one for each hostile text, which is the name and is used wherever else a
/// submission can put it; then ordinary ones, up to `n` in all.
std::vector<StudentRecord> class_for_tests(std::size_t n);

std::vector<StudentMarks> marks_of_class(const std::vector<StudentRecord>& students, const Course& course);

}  // namespace odori::grader
