// RESULTS/report.html: the class, for instructors.
#pragma once

#include <span>
#include <string>

#include "classroom/reports/marks.h"

namespace odori::grader {

/// One file that needs no other, in English and Japanese; it links to students/STUDENT/report.html. While some aren't
/// marked yet, it loads itself again. `chart_js` is Chart.js's own text (odori::read_chart_js); with none, the tables
/// stay.
std::string class_page(std::span<const StudentMarks> students, const Course& course, const std::string& chart_js);

}  // namespace odori::grader
