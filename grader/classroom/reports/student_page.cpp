// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "classroom/reports/formats.h"
#include "classroom/reports/page.h"
#include "classroom/reports/sanitized.h"
#include "errors/text.h"
#include "reports/pages.h"  // made by CMake

namespace odori::grader {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_lines = 30;  // of what was left out

std::string points_of(const TaskMarks& task, const Mark& mark) {
  if (!mark.verdict || !task.points) return "–";
  return mark.counts ? number(mark.points.value_or(0)) + " / " + number(mark.of) : "–";
}

/// The student's text without the indentation that all its lines share.
std::string answer_of(const TaskMarks& task, int blank) {
  const auto& answers = task.record->check->answers;
  const auto found = answers.find(blank);
  if (found == answers.end()) return {};
  std::vector<std::string> lines = split_lines(found->second);
  std::size_t shared = found->second.size();
  for (const std::string& line : lines)
    if (!trim(line).empty()) shared = std::min(shared, line.find_first_not_of(" \t"));
  std::string text;
  for (const std::string& line : lines)
    if (!trim(line).empty()) text += (text.empty() ? "" : "\n") + line.substr(shared);
  return text;
}

const Finding not_measured{"speedup_not_measured", {}};

/// What is below a verdict. What was measured belongs to the speedup. `last`: the finding of the row above.
Json messages_of(const Course& course, const TaskMarks& task, const Mark& mark, const std::optional<Finding>& last,
                 bool said_not_measured) {
  Json messages = Json::array();
  const auto say = [&](const Finding& finding) { messages.push_back(message(course, finding)); };
  const BlankVerdict& verdict = *mark.verdict;
  const bool is_said = verdict.finding == last || (said_not_measured && verdict.finding == not_measured);
  if (verdict.finding && !is_said && verdict.verdict != Verdict::unfilled) {  // an empty blank explains itself
    say(*verdict.finding);
    if (const auto hang = hang_behind(verdict)) say(*hang);
  }
  if (mark.blank != 0) return messages;
  if (const auto& speedup = task.record->check->speedup) {
    say({"line", *speedup});
    say({"beside", *speedup});
  }
  if (const auto& counts = task.record->check->counts) say({"counts_" + task.task->name, *counts});
  return messages;
}

Json marks_of(const Course& course, const TaskMarks& task, bool& said_not_measured) {
  Json marks = Json::array();
  std::optional<Finding> last;
  for (const Mark& mark : task.marks) {
    if (!mark.verdict) continue;
    Json messages = messages_of(course, task, mark, last, said_not_measured);
    last = mark.verdict->finding;
    said_not_measured |= last == not_measured;
    const std::string answer = answer_of(task, mark.blank);
    marks.push_back({{"number", mark.blank == 0 ? "" : std::to_string(mark.blank)},
                     {"name", both(course, name_key(*task.task, mark.blank))},
                     {"verdict", name_of(mark.verdict->verdict)},
                     {"points", points_of(task, mark)},
                     {"has_more", !messages.empty() || !answer.empty()},
                     {"answer", answer},
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

Json task_of(const TaskMarks& task, const Course& course, bool& said_not_measured) {
  const bool is_marked = task.record && task.record->check;
  Json marks = is_marked ? marks_of(course, task, said_not_measured) : Json::array();
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
  bool said_not_measured = false;
  for (const TaskMarks& task : student.tasks) tasks.push_back(task_of(task, course, said_not_measured));
  return render(pages::student_html, {{"name", student.name},
                                      {"title", sanitized_line(course.title)},
                                      {"date", course.date},
                                      {"points", student.points ? number(*student.points) : "–"},
                                      {"of", number(student.of)},
                                      {"tasks", std::move(tasks)}});
}

}  // namespace odori::grader
