// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports.h"

#include <algorithm>

#include "classroom/marking/archive_writer.h"
#include "classroom/marking/content.h"
#include "classroom/marking/student_name.h"
#include "classroom/reports/anonymous.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/looks.h"
#include "classroom/reports/sanitized.h"
#include "classroom/reports/uploads.h"
#include "files/file.h"
#include "report/html.h"

namespace odori::grader {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

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
  const std::vector<StudentMarks> all = all_marks();
  static const std::string chart_js = read_chart_js();
  replace_file(results_ / "results.json", class_json(all, course_));
  replace_file(results_ / "marks.csv", csv_of(all, course_));
  replace_file(results_ / "report.html", class_page(all, course_, chart_js));
  if (!anonymous_salt_.empty()) write_anonymous(chart_js);
  changed_.clear();
  written_ = Clock::now();
}

std::vector<StudentMarks> Reports::all_marks() const {
  std::vector<StudentMarks> all;
  for (const auto& [name, student] : students_) all.push_back(marks_of(student, course_));
  std::ranges::stable_sort(all, {}, &StudentMarks::name);
  find_alike(all);
  return all;
}

void Reports::write_uploads() const {
  const std::vector<StudentMarks> all = all_marks();
  replace_file(results_ / "upload/moodle.csv", moodle_upload(all, course_));
  replace_file(results_ / "upload/canvas.csv", canvas_upload(all, course_));
  replace_file(results_ / "upload/gradescope.csv", gradescope_upload(all, course_));
  const fs::path zip = results_ / "feedback.zip", unfinished = zip.string() + std::string(unfinished_suffix);
  ArchiveWriter archive(unfinished, ArchiveWriter::Format::zip);
  for (const auto& [name, student] : students_) {
    std::vector<std::string> folders;
    for (const Person& person : student.people)
      if (!person.moodle.empty())
        folders.push_back(student_name(person.name + '_' + person.moodle + "_assignsubmission_file_"));
    if (folders.empty()) folders.push_back(name);
    for (const auto& file : fs::directory_iterator(results_ / "students" / name))
      if (file.path().extension() == ".html")
        for (const std::string& folder : folders)
          archive.add(folder + '/' + file.path().filename().string(), read_file(file.path()));
  }
  archive.close();
  fs::rename(unfinished, zip);
}

/// RESULTS/anonymous.csv says which code is whose; nothing in RESULTS/anonymous does.
void Reports::write_anonymous(const std::string& chart_js) {
  const auto folder = results_ / "anonymous";
  std::string codes = "code,name\r\n";
  Course course = course_;
  std::vector<StudentMarks> all;
  for (const auto& [name, student] : students_) {
    const std::string code = sha256(anonymous_salt_ + name).substr(0, n_digits_of_code);
    codes += csv_line({code, sanitized_line(name)});
    if (const auto found = course_.overrides.find(name); found != course_.overrides.end())
      course.overrides[code] = found->second;
    all.push_back(marks_of(anonymous(student, code), course));
    if (changed_.contains(name))
      replace_file(folder / "students" / code / "report.html", student_page(all.back(), course));
  }
  std::ranges::sort(all, {}, &StudentMarks::name);
  find_alike(all);
  replace_file(folder / "report.html", class_page(all, course, chart_js));
  replace_file(results_ / "anonymous.csv", codes);
}

}  // namespace odori::grader
