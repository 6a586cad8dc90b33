// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <regex>

#include "classroom/reports/formats.h"
#include "classroom/reports/sanitized.h"
#include "files/json.h"

namespace odori::grader {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Spreadsheets take these at a text's beginning for a formula's, in Japanese Excel the full-width ones too; blanks in
/// front don't always keep them from it.
bool looks_like_a_formula(const std::string& text) {
  static const std::regex beginning("( |\u00A0|\u3000)*([=+\\-@\t\r\n]|＝|＋|－|＠|−)");
  return std::regex_search(text, beginning, std::regex_constants::match_continuous);
}

std::vector<std::string> headings(const Course& course) {
  std::vector<std::string> names{"name", "email", "id", "folder"};
  for (const Task& task : course.tasks) {
    for (const char* column : {"_state", "_points", "_late"}) names.push_back(task.name + column);
    for (const int blank : task.judged())
      if (course.points_of.at(task.name).contains(blank))
        names.push_back(task.name + '_' + (blank == 0 ? "speedup" : std::to_string(blank)));
  }
  names.insert(names.end(), {"total", "needs_look"});
  return names;
}

/// Empty where there is no mark.
std::string points_of(const TaskMarks& task, const Mark& mark) {
  if (!task.points || !mark.counts) return "";
  return number(mark.points.value_or(0));
}

}  // namespace

std::string csv_field(const std::string& text) {
  const std::string field = (looks_like_a_formula(text) ? "'" : "") + text;
  if (field.find_first_of("\",\r\n;\t' ") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return line + "\r\n";
}

std::string csv_of(std::span<const StudentMarks> students, const Course& course) {
  std::string text = std::string(byte_order_mark) + csv_line(headings(course));
  for (const StudentMarks& student : students) {
    const Person person = student.record.people.size() == 1 ? student.record.people.front() : Person{};
    std::vector<std::string> line{student.name, person.email, person.id.empty() ? person.moodle : person.id,
                                  student.record.name};
    for (const TaskMarks& task : student.tasks) {
      line.insert(line.end(),
                  {state_of(task), number_if_any(task.points), task.late ? number(task.late->deducted) : ""});
      for (const Mark& mark : task.marks) line.push_back(points_of(task, mark));
    }
    line.insert(line.end(), {number_if_any(student.points), student.needs_look ? "yes" : "no"});
    text += csv_line(line);
  }
  return text;
}

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
