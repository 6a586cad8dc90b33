// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "blanks/listed.h"
#include "classroom/reports/formats.h"
#include "classroom/reports/looks.h"
#include "classroom/reports/page.h"
#include "classroom/reports/sanitized.h"
#include "classroom/reports/summary.h"
#include "errors/text.h"
#include "report/html.h"
#include "reports/pages.h"  // made by CMake

namespace odori::grader {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_misconceptions = 20, most_names = 30;

/// Each verdict in a narrow cell, in the order of the legend.
constexpr std::array<std::pair<Verdict, const char*>, 10> signs{{{Verdict::pass, "✓"},
                                                                 {Verdict::inconclusive, "~"},
                                                                 {Verdict::unfilled, "_"},
                                                                 {Verdict::missing, "–"},
                                                                 {Verdict::wrong, "✗"},
                                                                 {Verdict::compile, "C"},
                                                                 {Verdict::crash, "!"},
                                                                 {Verdict::hang, "∞"},
                                                                 {Verdict::environment, "?"},
                                                                 {Verdict::not_checked, "·"}}};

const char* sign_of(Verdict verdict) {
  return std::ranges::find(signs, verdict, &std::pair<Verdict, const char*>::first)->second;
}

std::string url_of_page(const StudentMarks& student) { return "students/" + url_of(student.folder) + "/report.html"; }

/// A number to sort by, what has none first.
std::string percent_of(const std::optional<double>& points, double of) {
  return points && of > 0 ? number(100 * *points / of) : "-1";
}

Json legend() {
  Json legend = Json::array();
  for (const auto& [verdict, sign] : signs) legend.push_back({{"verdict", name_of(verdict)}, {"sign", sign}});
  return legend;
}

/// What most students who have the blank wrong did; nothing if no two did the same.
Json commonest_of(const BlankSummary& blank, const ClassSummary& summary, const Course& course) {
  for (const Misconception& one : summary.misconceptions)  // the commonest first
    if (one.task == blank.task && one.blank == blank.blank && one.students.size() > 1)
      return {{"n", one.students.size()}, {"what", first_paragraph(message(course, one.example))}};
  return false;
}

Json blank_of(const BlankSummary& blank, const ClassSummary& summary, const Course& course) {
  Json verdicts = Json::array();
  for (const auto& [verdict, n] : blank.verdicts) verdicts.push_back({{"verdict", name_of(verdict)}, {"n", n}});
  return {{"number", blank.blank == 0 ? "" : std::to_string(blank.blank)},
          {"name", both(course, name_key(*blank.task, blank.blank))},
          {"verdicts", std::move(verdicts)},
          {"right", blank.share_right() ? fmt::format("{:.0f} %", *blank.share_right()) : "–"},
          {"commonest", commonest_of(blank, summary, course)},
          {"mean", number(blank.mean_points)},
          {"of", number(blank.of)}};
}

Json tasks_of(const ClassSummary& summary, const Course& course) {
  Json tasks = Json::array();
  for (const Task& task : course.tasks) {
    Json blanks = Json::array();
    for (const BlankSummary& blank : summary.blanks)
      if (blank.task->name == task.name) blanks.push_back(blank_of(blank, summary, course));
    tasks.push_back({{"words", replaced(task.name, "_", " ")},
                     {"name", both(course, title_key(task))},
                     {"blanks", std::move(blanks)}});
  }
  return tasks;
}

Json misconceptions_of(const ClassSummary& summary, const Course& course) {
  Json misconceptions = Json::array();
  for (const Misconception& one : summary.misconceptions) {
    if (misconceptions.size() == most_misconceptions) break;
    Json names = Json::array();
    for (const StudentMarks* student : one.students)
      if (names.size() < most_names) names.push_back({{"name", student->name}, {"url", url_of_page(*student)}});
    const std::size_t more = one.students.size() - names.size();
    misconceptions.push_back({{"n", one.students.size()},
                              {"task", one.task->name},
                              {"blank", one.blank.value_or(0) == 0 ? "" : fmt::format(" {}", *one.blank)},
                              {"name", both(course, one.blank ? name_key(*one.task, *one.blank) : "name_file")},
                              {"verdict", name_of(one.verdict)},
                              {"what", message(course, one.example)},
                              {"students", std::move(names)},
                              {"more", more > 0 ? Json(std::to_string(more)) : Json()}});
  }
  return misconceptions;
}

/// One row for each student.
Json looks_in(const std::vector<Look>& looks, const Course& course) {
  Json rows = Json::array();
  for (const Look& look : looks) {
    Json reasons = Json::array();
    for (const Reason& reason : look.reasons)
      reasons.push_back({{"tasks", listed(reason.tasks)}, {"why", message(course, reason.why)}});
    Json first = std::move(reasons.front());
    reasons.erase(0);
    const std::size_t more = reasons.size();
    rows.push_back({{"name", look.student->name},
                    {"url", url_of_page(*look.student)},
                    {"first", std::move(first)},
                    {"has_more", more > 0},
                    {"more", more},
                    {"others", std::move(reasons)}});
  }
  return rows;
}

/// Marks that were changed by hand, and late submissions.
Json adjusted(std::span<const StudentMarks> students, const Course& course) {
  Json all = Json::array();
  for (const StudentMarks& student : students)
    for (const TaskMarks& task : student.tasks)
      for (const Finding& adjustment : adjustments_of(task))
        all.push_back({{"name", student.name}, {"url", url_of_page(student)}, {"what", message(course, adjustment)}});
  return all;
}

Json task_of(const TaskMarks& task) {
  Json cells = Json::array();
  for (const Mark& mark : task.marks)
    cells.push_back({{"blank", mark.blank == 0 ? "speedup" : std::to_string(mark.blank)},
                     {"verdict", mark.verdict ? name_of(mark.verdict->verdict) : ""},
                     {"sign", mark.verdict ? sign_of(mark.verdict->verdict) : ""}});
  const std::string points = task.points ? number(*task.points) : task.record ? "?" : "…";
  return {{"task", task.task->name},
          {"points", points},
          {"key", percent_of(task.points, task.of)},
          {"cells", std::move(cells)}};
}

Json student_of(const StudentMarks& student) {
  Json tasks = Json::array();
  for (const TaskMarks& task : student.tasks) tasks.push_back(task_of(task));
  return {
      {"name", student.name},
      {"url", url_of_page(student)},
      {"key", percent_of(student.points, student.of)},
      {"percent", student.points && student.of > 0 ? fmt::format("{:.0f} %", 100 * *student.points / student.of) : "–"},
      {"tasks", std::move(tasks)},
      {"look", student.needs_look ? "!" : ""}};
}

}  // namespace

std::string class_page(std::span<const StudentMarks> students, const Course& course, const std::string& chart_js) {
  const ClassSummary summary = summary_of(students, course);
  const auto figure = [](std::optional<double> percent) { return percent ? fmt::format("{:.0f}", *percent) : "–"; };
  const auto if_any = [](int n) { return n > 0 ? Json(std::to_string(n)) : Json(); };
  const Json changed = adjusted(students, course);
  const std::vector<Look> looks = looks_of(students);
  Json all = Json::array();
  for (const StudentMarks& student : students) all.push_back(student_of(student));
  return render(pages::class_html, {{"title", sanitized_line(course.title)},
                                    {"date", course.date},
                                    {"n_students", students.size()},
                                    {"n_tasks", summary.n_tasks},
                                    {"n_marked", summary.n_marked},
                                    {"n_absent", if_any(summary.n_absent)},
                                    {"n_ungraded", if_any(summary.n_ungraded)},
                                    {"n_waiting", if_any(summary.n_waiting())},
                                    {"n_untimed", if_any(summary.n_untimed)},
                                    {"n_done", summary.n_tasks - summary.n_waiting() - summary.n_untimed},
                                    {"is_running", summary.n_waiting() + summary.n_untimed > 0},
                                    {"has_percents", !summary.percents.empty()},
                                    {"median", figure(summary.median())},
                                    {"mean", figure(summary.mean())},
                                    {"n_looks", looks.size()},
                                    {"has_looks", !looks.empty()},
                                    {"looks", looks_in(looks, course)},
                                    {"has_adjusted", !changed.empty()},
                                    {"adjusted", changed},
                                    {"tasks", tasks_of(summary, course)},
                                    {"has_misconceptions", !summary.misconceptions.empty()},
                                    {"misconceptions", misconceptions_of(summary, course)},
                                    {"legend", legend()},
                                    {"students", std::move(all)},
                                    {"data", html::json_in_script({{"percents", summary.percents}})},
                                    {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori::grader
