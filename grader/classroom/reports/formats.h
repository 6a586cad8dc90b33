// SPDX-License-Identifier: Apache-2.0
// The files that a class's marks are written to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "classroom/reports/marks.h"

namespace odori::grader {

/// RESULTS/report.html: the class, for instructors. One file that needs no other, in English and Japanese; it links to
/// students/STUDENT/report.html. While some answers aren't marked yet, it loads itself again. `chart_js` is Chart.js's
/// own text (odori::read_chart_js); without it, there are only the tables.
std::string class_page(std::span<const StudentMarks> students, const Course& course, const std::string& chart_js);

/// RESULTS/results.json: the class, for programs.
///
///   {"title": "...", "date": "...",
///    "students": [{"name": "...", "folder": "...", "points": 140, "of": 200, "needs_look": false,
///                  "tasks": {"multi_gpu": {"state": "marked", "points": 100, "of": 100, "record": {...}}}} ...]}
///
/// "record" is as marking/record.h has it, or null. Points are null where there is no mark.
std::string class_json(std::span<const StudentMarks> students, const Course& course);

/// RESULTS/marks.csv: one line per student, for spreadsheets. The columns are name, email, id and folder; for each task
/// TASK_state, TASK_points (of 100), TASK_late (what lateness cost), TASK_1 ... TASK_speedup; then total (of 100) and
/// needs_look. A field is empty where there is no mark.
///
/// RFC 4180: commas, CRLF, quotes doubled. UTF-8 with a byte order mark: without one, Excel reads names in Japanese as
/// something else; Moodle and Python's "utf-8-sig" skip it.
std::string csv_of(std::span<const StudentMarks> students, const Course& course);

/// One field of it: quoted where it has to be. A text that a spreadsheet would take for a formula gets a ' in front.
std::string csv_field(const std::string& text);
/// Fields and a line end.
std::string csv_line(const std::vector<std::string>& fields);

/// RESULTS/students/STUDENT/report.html: what a student got, and why. It is for the student's eyes: flags aren't in it.
/// One file that needs no other, in English and Japanese, but the timelines that it links to.
std::string student_page(const StudentMarks& student, const Course& course);

/// RESULTS/students/STUDENT/results.json, as Gradescope's autograders write it
/// (https://gradescope-autograders.readthedocs.io/en/latest/specs/). Where that leaves a choice:
/// - `score` is the student's mark, of 100, which need not be the sum of the tests' scores: tasks have weights.
/// - Ungraded is no score: neither `score` nor a test's is there then, so that nothing can be summed up.
/// - No test is hidden: hidden ones would hide the score from students. Flags aren't in the file, since students can
///   see it.
/// - Outputs are "text", in which Gradescope renders neither HTML nor Markdown nor ANSI.
std::string gradescope_of(const StudentMarks& student, const Course& course);

}  // namespace odori::grader
