// SPDX-License-Identifier: Apache-2.0
// Marks in the columns that learning platforms import, one line a person (a group has several). A field is empty where
// there is no mark; the platforms keep an earlier one then.
#pragma once

#include <span>
#include <string>

#include "classroom/reports/marks.h"

namespace odori::grader {

/// RESULTS/upload/moodle.csv, for "Upload grading worksheet" of an assignment in Moodle with 100 points: Identifier
/// ("Participant 4009"), Full name, Email address, Status, Grade, Maximum Grade, Grade can be changed, Last modified
/// (submission), Last modified (grade), Feedback comments. The importer needs the first of these, Grade and Last
/// modified (grade), in the language of the site (Moodle, mod/assign/feedback/offline/importgradeslib.php, Moodle 4.5).
/// Only people whose number in Moodle is known are in it.
std::string moodle_upload(std::span<const StudentMarks> students, const Course& course);

/// RESULTS/upload/canvas.csv, for "Import" in Canvas' gradebook: Student, ID, SIS User ID, SIS Login ID, Section, and
/// the class's title; the second line is Points Possible (Canvas, lib/gradebook_importer.rb, 2024).
std::string canvas_upload(std::span<const StudentMarks> students, const Course& course);

/// RESULTS/upload/gradescope.csv: Name, Email and SID as in a roster of Gradescope ("Adding Students and Staff",
/// help.gradescope.com), Total Score and Max Points as in its export of grades.
std::string gradescope_upload(std::span<const StudentMarks> students, const Course& course);

}  // namespace odori::grader
