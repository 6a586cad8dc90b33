// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "classroom/reports/formats.h"
#include "classroom/reports/sanitized.h"
#include "files/json.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& points) { return points ? Json(*points) : Json(); }

Json student_of(const StudentMarks& student) {
  Json tasks = Json::object();
  for (const TaskMarks& task : student.tasks)
    tasks[task.task->name] = {{"state", state_of(task)},
                              {"points", or_null(task.points)},
                              {"of", task.of},
                              {"record", task.record ? json_of(*task.record) : Json()}};
  return {{"name", student.name}, {"folder", student.folder},         {"points", or_null(student.points)},
          {"of", student.of},     {"needs_look", student.needs_look}, {"tasks", std::move(tasks)}};
}

}  // namespace

std::string class_json(std::span<const StudentMarks> students, const Course& course) {
  Json all = Json::array();
  for (const StudentMarks& student : students) all.push_back(student_of(student));
  const Json json{{"title", sanitized_line(course.title)}, {"date", course.date}, {"students", std::move(all)}};
  return json_text(json, 1, NotUtf8::replaced) + '\n';
}

}  // namespace odori::grader
