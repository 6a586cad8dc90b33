// RESULTS/students/STUDENT/report.html: what a student got, and why. It is for the student's eyes: flags aren't in it.
#pragma once

#include <string>

#include "classroom/reports/marks.h"

namespace odori::grader {

/// One file that needs no other, in English and Japanese. The timelines that it links to lie beside it.
std::string student_page(const StudentMarks& student, const Course& course);

}  // namespace odori::grader
