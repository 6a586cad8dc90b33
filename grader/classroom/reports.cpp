// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports.h"

#include <algorithm>

#include "classroom/marking/sha256.h"
#include "classroom/reports/anonymous.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/looks.h"
#include "classroom/reports/sanitized.h"
#include "files/file.h"
#include "report/page.h"

namespace odori::grader {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t n_digits_of_code = 8;

Reports::Reports(std::filesystem::path results, Course course, std::vector<StudentRecord> students)
    : results_(std::move(results)), course_(std::move(course)) {
  for (StudentRecord& student : students) {
    changed_.insert(student.name);
    students_[student.name] = std::move(student);
  }
}

void Reports::take(const TaskRecord& record) {
  students_[record.student].name = record.student;
  students_[record.student].tasks[record.task] = record;
  changed_.insert(record.student);
}

void Reports::write_if_due() {
  if (!changed_.empty() && Clock::now() - written_ > 5s) write();
}

void Reports::write() {
  for (const std::string& name : changed_) {
    const StudentMarks marks = marks_of(students_.at(name), course_);
    const auto folder = results_ / "students" / name;
    replace_file(folder / "results.json", gradescope_of(marks, course_));
    replace_file(folder / "report.html", student_page(marks, course_));
  }
  std::vector<StudentMarks> all;
  for (const auto& [name, student] : students_) all.push_back(marks_of(student, course_));
  find_alike(all);
  static const std::string chart_js = read_chart_js();
  replace_file(results_ / "results.json", class_json(all, course_));
  replace_file(results_ / "marks.csv", csv_of(all, course_));
  replace_file(results_ / "report.html", class_page(all, course_, chart_js));
  if (!anonymous_salt_.empty()) write_anonymous(chart_js);
  changed_.clear();
  written_ = Clock::now();
}

/// RESULTS/anonymous.csv says which code is whose; nothing in RESULTS/anonymous does.
void Reports::write_anonymous(const std::string& chart_js) {
  const auto folder = results_ / "anonymous";
  std::string codes = "code,name\r\n";
  std::vector<StudentMarks> all;
  for (const auto& [name, student] : students_) {
    const std::string code = sha256(anonymous_salt_ + name).substr(0, n_digits_of_code);
    codes += code + ',' + csv_field(sanitized_line(name)) + "\r\n";
    all.push_back(marks_of(anonymous(student, code), course_));
    if (changed_.contains(name))
      replace_file(folder / "students" / code / "report.html", student_page(all.back(), course_));
  }
  std::ranges::sort(all, {}, &StudentMarks::name);
  find_alike(all);
  replace_file(folder / "report.html", class_page(all, course_, chart_js));
  replace_file(results_ / "anonymous.csv", codes);
}

}  // namespace odori::grader
