// RESULTS/marks.csv: a line a student, for spreadsheets and for Moodle's import of grades.
//
// name, then for each task TASK_state, TASK_points, TASK_of, TASK_1 ... TASK_speedup; then total, of, percent,
// needs_look. A field is empty where there is no mark; `percent` is what to import where the total is fixed.
//
// RFC 4180: commas, CRLF, quotes doubled. UTF-8 with a byte order mark: without one, Excel reads names in Japanese as
// something else; Moodle and Python's "utf-8-sig" skip it. A text that a spreadsheet would take for a formula gets a '
// in front.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "classroom/reports/marks.h"

namespace odori::grader {

std::string csv_of(std::span<const StudentMarks> students, const Course& course);

/// One field: quoted where it has to be, and never a formula.
std::string csv_field(std::string_view text);

}  // namespace odori::grader
