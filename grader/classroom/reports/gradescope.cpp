// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "classroom/reports/formats.h"
#include "files/json.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;

std::string in_both(const Course& course, const Finding& finding) {
  return course.english.text(finding) + "\n\n" + course.japanese.text(finding);
}

Json test_of(const TaskMarks& task, std::size_t number_of_task, const Mark& mark, bool scored, const Course& course) {
  const std::string name = course.english.text(name_key(*task.task, mark.blank));
  Json test{{"name", mark.blank == 0 ? fmt::format("{}: {}", task.task->name, name)
                                     : fmt::format("{}, blank {}: {}", task.task->name, mark.blank, name)},
            {"name_format", "text"},
            {"number", fmt::format("{}.{}", number_of_task, mark.blank == 0 ? task.task->n_blanks() + 1 : mark.blank)},
            {"output_format", "text"},
            {"visibility", "visible"}};
  const std::string verdict = mark.verdict ? name_of(mark.verdict->verdict) : state_of(task);
  const bool passed = mark.verdict && mark.verdict->verdict == Verdict::pass;
  // Without a score, a test is information only. What doesn't count is neither passed nor failed.
  if (scored && mark.counts) {
    test["score"] = rounded(mark.points.value_or(0));
    test["max_score"] = rounded(mark.of);
  }
  if (mark.counts && (mark.verdict || task.points)) test["status"] = passed ? "passed" : "failed";
  test["output"] = verdict;
  if (mark.verdict && mark.verdict->finding)
    test["output"] = verdict + "\n\n" + in_both(course, *mark.verdict->finding);
  test["tags"] = {task.task->name, verdict};
  return test;
}

std::string output_of(const StudentMarks& student, const Course& course) {
  std::string output;
  for (const TaskMarks& task : student.tasks) {
    const Finding line{
        task.points ? "task_points" : "task_" + state_of(task),
        {{"task", task.task->name}, {"points", number(task.points.value_or(0))}, {"of", number(task.of)}}};
    output += in_both(course, line) + '\n';
    for (const Finding& adjustment : adjustments_of(task)) output += in_both(course, adjustment) + '\n';
  }
  return output;
}

}  // namespace

std::string gradescope_of(const StudentMarks& student, const Course& course) {
  Json results = Json::object(), tests = Json::array();
  double seconds = 0;
  for (std::size_t i = 0; i < student.tasks.size(); ++i) {
    const TaskMarks& task = student.tasks[i];
    for (const Mark& mark : task.marks) tests.push_back(test_of(task, i + 1, mark, student.points.has_value(), course));
    if (task.record) seconds += task.record->seconds;
  }
  if (student.points) results["score"] = rounded(*student.points);
  results["output"] = output_of(student, course);
  results["output_format"] = "text";
  results["visibility"] = "visible";
  results["stdout_visibility"] = "hidden";
  results["execution_time"] = seconds;
  results["tests"] = std::move(tests);
  results["extra_data"] = {{"graded", student.points.has_value()}, {"max_score", student.of}};
  return json_text(results, 2, NotUtf8::replaced) + '\n';
}

}  // namespace odori::grader
