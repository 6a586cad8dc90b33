// SPDX-License-Identifier: Apache-2.0
// The reports of a class, updated as marks arrive.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "classroom/marking/results.h"
#include "classroom/reports/marks.h"

namespace odori::grader {

/// RESULTS/students/STUDENT/{results.json,report.html}, and for all RESULTS/{results.json,marks.csv,report.html}; at
/// the end RESULTS/upload/{moodle,canvas,gradescope}.csv and RESULTS/feedback.zip; on request RESULTS/anonymous/, the
/// pages with codes in place of names.
class Reports {
 public:
  Reports(std::filesystem::path results, Course course, std::vector<StudentRecord> students);

  /// Adds a student without marks.
  void expect(const std::string& student, const std::vector<Person>& people) {
    students_[student].name = student;
    students_[student].people = people;
    changed_.insert(student);
  }
  void take(const TaskRecord& record);
  /// Also writes RESULTS/anonymous/, whenever reports are written. A student's code is made of the salt and the name.
  void write_anonymous_too(std::string salt) { anonymous_salt_ = std::move(salt); }
  /// Writes what has changed, unless that was done less than five seconds ago. Throws WriteError.
  void write_if_due();
  void write();
  /// Writes the files for learning platforms. feedback.zip has the layout in which Moodle gives feedback files to
  /// students: NAME_NUMBER_assignsubmission_file_/FILE (Moodle, mod/assign/feedback/file/importziplib.php, Moodle 4.5).
  /// Of a student without a number in Moodle, the folder is the one below RESULTS/students.
  void write_uploads() const;

  /// As the pages show them, by name.
  std::vector<StudentMarks> all_marks() const;
  const Course& course() const { return course_; }
  const std::map<std::string, StudentRecord>& students() const { return students_; }

 private:
  void write_anonymous(const std::string& chart_js);

  std::filesystem::path results_;
  Course course_;
  std::map<std::string, StudentRecord> students_;
  std::set<std::string> changed_;
  std::string anonymous_salt_;  // empty: not asked for
  std::chrono::steady_clock::time_point written_;
};

}  // namespace odori::grader
