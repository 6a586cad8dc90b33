// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "classroom/reports/formats.h"
#include "classroom/reports/page.h"
#include "classroom/reports/sanitized.h"
#include "reports/pages.h"  // made by CMake

namespace odori::grader {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_lines = 30;  // of what was left out

std::string points_of(const TaskMarks& task, const Mark& mark) {
  if (!mark.verdict || !task.points) return "–";
  return mark.counts ? number(mark.points.value_or(0)) + " / " + number(mark.of) : "–";
}

/// What stands below a verdict. What was measured belongs to the speedup.
Json messages_of(const Course& course, const TaskMarks& task, const Mark& mark, const std::optional<Finding>& last) {
  Json messages = Json::array();
  const auto say = [&](const Finding& finding) { messages.push_back(message(course, finding)); };
  const BlankVerdict& verdict = *mark.verdict;
  // The same isn't said twice in a row, and an empty blank explains itself.
  if (verdict.finding && verdict.finding != last && verdict.verdict != Verdict::unfilled) {
    say(*verdict.finding);
    if (const auto hang = hang_behind(verdict)) say(*hang);
    if (mark.blank != 0 && verdict.verdict != Verdict::environment && verdict.verdict != Verdict::not_checked)
      say({"hint_command", {{"task", task.task->name}, {"blank", std::to_string(mark.blank)}}});
  }
  if (mark.blank != 0) return messages;
  if (const auto& speedup = task.record->check->speedup) {
    say({"line", *speedup});
    say({"beside", *speedup});
  }
  if (const auto& counts = task.record->check->counts) say({"counts_" + task.task->name, *counts});
  return messages;
}

Json marks_of(const Course& course, const TaskMarks& task) {
  Json marks = Json::array();
  std::optional<Finding> last;
  for (const Mark& mark : task.marks) {
    if (!mark.verdict) continue;
    Json messages = messages_of(course, task, mark, last);
    last = mark.verdict->finding;
    marks.push_back({{"number", mark.blank == 0 ? "" : std::to_string(mark.blank)},
                     {"name", both(course, name_key(*task.task, mark.blank))},
                     {"verdict", name_of(mark.verdict->verdict)},
                     {"points", points_of(task, mark)},
                     {"has_message", !messages.empty()},
                     {"messages", std::move(messages)}});
  }
  return marks;
}

Json left_out_of(const CheckRecord& check) {
  Json lines = Json::array();
  for (const LeftOut& line : check.left_out) {
    if (lines.size() == most_lines) break;
    lines.push_back(
        {{"sign", line.removed ? "−" : "+"}, {"file", line.file}, {"line", line.line}, {"text", line.text}});
  }
  return lines;
}

Json adjustments(const Course& course, const TaskMarks& task) {
  Json messages = Json::array();
  for (const Finding& adjustment : adjustments_of(task)) messages.push_back(message(course, adjustment));
  return messages;
}

Json task_of(const TaskMarks& task, const Course& course) {
  const bool is_marked = task.record && task.record->check;
  Json marks = is_marked ? marks_of(course, task) : Json::array();
  Json left_out = is_marked ? left_out_of(*task.record->check) : Json::array();
  const std::size_t more = is_marked ? task.record->check->left_out.size() - left_out.size() : 0;
  const std::string timeline = is_marked ? url_of(task.record->check->timeline) : "";
  const std::string state = state_of(task);
  return {{"task", task.task->name},
          {"name", both(course, title_key(*task.task))},
          {"points", task.points ? number(*task.points) : "–"},
          {"of", number(task.of)},
          {"has_note", state != "marked"},
          {"note", message(course, {"state_" + state, {{"program", task.task->program.exercise.filename().string()}}})},
          {"adjustments", adjustments(course, task)},
          {"has_marks", !marks.empty()},
          {"marks", std::move(marks)},
          {"has_timeline", !timeline.empty()},
          {"timeline", timeline},
          {"has_left_out", !left_out.empty()},
          {"left_out", std::move(left_out)},
          {"more", more > 0 ? Json(std::to_string(more)) : Json()},
          {"has_seed", is_marked},
          {"seed", is_marked ? std::to_string(task.record->check->seed) : ""}};
}

}  // namespace

std::string student_page(const StudentMarks& student, const Course& course) {
  Json tasks = Json::array();
  for (const TaskMarks& task : student.tasks) tasks.push_back(task_of(task, course));
  return render(pages::student_html, {{"name", student.name},
                                      {"title", sanitized_line(course.title)},
                                      {"date", course.date},
                                      {"points", student.points ? number(*student.points) : "–"},
                                      {"of", number(student.of)},
                                      {"tasks", std::move(tasks)}});
}

}  // namespace odori::grader
