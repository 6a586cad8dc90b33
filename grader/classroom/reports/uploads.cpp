// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/uploads.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "classroom/course/times.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/sanitized.h"

namespace odori::grader {
namespace {

void for_each_person(std::span<const StudentMarks> students,
                     const std::function<void(const StudentMarks&, const Person&)>& take) {
  for (const StudentMarks& student : students) {
    for (const Person& person : student.record.people) take(student, person);
    if (student.record.people.empty()) take(student, {.name = student.name});
  }
}

/// When the answers to all tasks were submitted: the latest of them; 0 if it is unknown.
std::int64_t submitted_of(const StudentMarks& student) {
  std::int64_t latest = 0;
  for (const auto& [task, record] : student.record.tasks) latest = std::max(latest, record.submitted);
  return latest;
}

/// "multi_gpu: 75 of 100 points (2: WRONG, 8: MISSING). 1 day late: -10 points. A comment."
std::string feedback_of(const StudentMarks& student, const Course& course) {
  const Messages& messages = course.messages();
  std::string text;
  for (const TaskMarks& task : student.tasks) {
    std::vector<std::string> sentences{messages.text(
        {task.points ? "task_points" : "task_" + state_of(task),
         {{"task", task.task->name}, {"points", number(task.points.value_or(0))}, {"of", number(task.of)}}})};
    std::string verdicts;
    for (const Mark& mark : task.marks)
      if (mark.verdict && mark.counts && mark.verdict->verdict != Verdict::pass)
        verdicts += (verdicts.empty() ? "" : ", ") + messages.text(name_key(*task.task, mark.blank)) + ": " +
                    name_of(mark.verdict->verdict);
    if (!verdicts.empty()) sentences.push_back('(' + verdicts + ')');
    for (const Finding& adjustment : adjustments_of(task)) sentences.push_back(messages.text(adjustment));
    for (const std::string& sentence : sentences) text += sentence + ' ';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string moodle_upload(std::span<const StudentMarks> students, const Course& course) {
  std::string text =
      csv_line({"Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
                "Last modified (submission)", "Last modified (grade)", "Feedback comments"});
  for_each_person(students, [&](const StudentMarks& student, const Person& person) {
    if (person.moodle.empty()) return;
    const std::int64_t submitted = submitted_of(student);
    text += csv_line({"Participant " + person.moodle, person.name, person.email, "", number_if_any(student.points),
                      number(student.of), "Yes", submitted == 0 ? "" : time_text(submitted), course.date,
                      feedback_of(student, course)});
  });
  return text;
}

std::string canvas_upload(std::span<const StudentMarks> students, const Course& course) {
  const std::string title = sanitized_line(course.title);
  std::string text = csv_line({"Student", "ID", "SIS User ID", "SIS Login ID", "Section", title}) +
                     csv_line({"    Points Possible", "", "", "", "", "100"});
  for_each_person(students, [&](const StudentMarks& student, const Person& person) {
    text += csv_line({person.name, person.canvas, person.sis, person.login.empty() ? person.email : person.login,
                      person.section, number_if_any(student.points)});
  });
  return text;
}

std::string gradescope_upload(std::span<const StudentMarks> students, const Course&) {
  std::string text = csv_line({"Name", "Email", "SID", "Total Score", "Max Points"});
  for_each_person(students, [&](const StudentMarks& student, const Person& person) {
    text += csv_line({person.name, person.email, person.id, number_if_any(student.points), number(student.of)});
  });
  return text;
}

}  // namespace odori::grader
