// The reports of a class, written as the marks come.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "classroom/marking/results.h"
#include "classroom/reports/course.h"

namespace odori::grader {

/// The progress of the class, in answers.
struct Standing {
  int marked = 0, absent = 0, ungraded = 0;  // ungraded: speedups included, whose answers are marked
  int flagged = 0;                           // of the marked ones
  std::vector<std::string> nobodys;          // tasks that none of several students submitted
};

/// RESULTS/students/STUDENT/{results.json,report.html}, and for all RESULTS/{results.json,marks.csv,report.html}.
class Reports {
 public:
  Reports(std::filesystem::path results, Course course, std::vector<StudentRecord> students);

  /// A student whose answers nobody has marked yet.
  void expect(const std::string& student) { students_[student].name = student; }
  void take(const TaskRecord& record);
  /// Writes what has changed, unless that was done less than a second ago. Throws Refusal.
  void write_now_and_then();
  void write();

  Standing standing() const;
  const Course& course() const { return course_; }
  const std::map<std::string, StudentRecord>& students() const { return students_; }

 private:
  std::filesystem::path results_;
  Course course_;
  std::map<std::string, StudentRecord> students_;
  std::set<std::string> changed_;
  std::chrono::steady_clock::time_point written_;
  std::chrono::steady_clock::duration took_{};  // to write all
};

}  // namespace odori::grader
