#include "classroom/reports.h"

#include <algorithm>

#include "classroom/marking/durable_file.h"
#include "classroom/reports/class_json.h"
#include "classroom/reports/class_page.h"
#include "classroom/reports/csv.h"
#include "classroom/reports/gradescope.h"
#include "classroom/reports/student_page.h"
#include "report/page.h"

namespace odori::grader {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

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

void Reports::write_now_and_then() {
  // A large class takes longer to write: never more than a tenth of the time.
  if (!changed_.empty() && Clock::now() - written_ > std::max<Clock::duration>(1s, 10 * took_)) write();
}

void Reports::write() {
  const auto began = Clock::now();
  for (const std::string& name : changed_) {
    const StudentMarks marks = marks_of(students_.at(name), course_);
    const auto folder = results_ / "students" / name;
    write_durably(folder / "results.json", gradescope_of(marks, course_));
    write_durably(folder / "report.html", student_page(marks, course_));
  }
  std::vector<StudentMarks> all;
  for (const auto& [name, student] : students_) all.push_back(marks_of(student, course_));
  static const std::string chart_js = read_chart_js();
  write_durably(results_ / "results.json", class_json(all, course_));
  write_durably(results_ / "marks.csv", csv_of(all, course_));
  write_durably(results_ / "report.html", class_page(all, course_, chart_js));
  changed_.clear();
  written_ = Clock::now();
  took_ = written_ - began;
}

Standing Reports::standing() const {
  Standing standing;
  for (const Task& task : course_.tasks) {
    std::size_t n_absent = 0;
    for (const auto& [name, student] : students_) {
      const auto found = student.tasks.find(task.name);
      if (found == student.tasks.end()) continue;
      const TaskRecord& record = found->second;
      const bool marked = record.state == RecordState::marked;
      standing.marked += marked;
      standing.flagged += marked && !record.flags.empty();
      standing.ungraded += record.state == RecordState::ungraded || ungraded_speedup(record);
      n_absent += record.state == RecordState::absent;
    }
    standing.absent += static_cast<int>(n_absent);
    if (n_absent > 1 && n_absent == students_.size()) standing.nobodys.push_back(task.name);
  }
  return standing;
}

}  // namespace odori::grader
