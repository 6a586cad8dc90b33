// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <regex>

#include "classroom/reports/formats.h"

namespace odori::grader {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Spreadsheets take these at a text's beginning for a formula's, in Japanese Excel the full-width ones too; blanks in
/// front don't always keep them from it.
bool looks_like_a_formula(const std::string& text) {
  static const std::regex beginning("( |\u00A0|\u3000)*([=+\\-@\t\r\n]|＝|＋|－|＠|−)");
  return std::regex_search(text, beginning, std::regex_constants::match_continuous);
}

void append(std::string& line, const std::string& field) { line += ',' + field; }

std::string header(const Course& course) {
  std::string line = "name,email,id,folder";
  for (const Task& task : course.tasks) {
    for (const char* column : {"state", "points", "late"}) append(line, task.name + "_" + column);
    for (const int blank : task.judged())
      if (course.points_of.at(task.name).contains(blank))
        append(line, fmt::format("{}_{}", task.name, blank == 0 ? "speedup" : std::to_string(blank)));
  }
  return line + ",total,needs_look\r\n";
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

std::string csv_of(std::span<const StudentMarks> students, const Course& course) {
  std::string text = std::string(byte_order_mark) + header(course);
  for (const StudentMarks& student : students) {
    std::string line = csv_field(student.name);
    const Person person = student.record.people.size() == 1 ? student.record.people.front() : Person{};
    for (const std::string& field : {person.email, person.id.empty() ? person.moodle : person.id, student.record.name})
      append(line, csv_field(field));
    for (const TaskMarks& task : student.tasks) {
      append(line, state_of(task));
      append(line, task.points ? number(*task.points) : "");
      append(line, task.late ? number(task.late->deducted) : "");
      for (const Mark& mark : task.marks) append(line, points_of(task, mark));
    }
    append(line, student.points ? number(*student.points) : "");
    text += line + (student.needs_look ? ",yes" : ",no") + "\r\n";
  }
  return text;
}

}  // namespace odori::grader
