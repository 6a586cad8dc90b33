#include "classroom/reports/class_json.h"

#include <nlohmann/json.hpp>

#include "classroom/reports/sanitized.h"
#include "classroom/reports/summary.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json told(const Finding& finding, const Course& course) {
  return {{"key", finding.key}, {"values", finding.values}, {"message", course.english.text(finding)}};
}

Json verdict_of(const Mark& mark, const Course& course) {
  Json json{{"blank", mark.blank},
            {"verdict", name_of(mark.verdict->verdict)},
            {"points", mark.verdict->points},
            {"of", mark.of},
            {"counts", mark.counts}};
  if (mark.verdict->finding) json.update(told(*mark.verdict->finding, course));
  return json;
}

Json task_of(const TaskMarks& task, const Course& course) {
  Json json{{"state", state_of(task)}, {"points", or_null(task.points)}, {"of", task.of}};
  if (!task.record) return json;
  const TaskRecord& record = *task.record;
  Json flags = Json::array(), verdicts = Json::array();
  for (const Finding& flag : record.flags) flags.push_back(told(flag, course));
  for (const Mark& mark : task.marks)
    if (mark.verdict) verdicts.push_back(verdict_of(mark, course));
  json.update({{"timed", record.timed},
               {"attempts", record.attempts},
               {"seconds", record.seconds},
               {"reason", record.reason ? told(*record.reason, course) : Json()},
               {"flags", std::move(flags)},
               {"verdicts", std::move(verdicts)},
               {"speedup", record.check && record.check->speedup ? Json(*record.check->speedup) : Json()},
               {"left_out", record.check ? record.check->left_out.size() : 0}});
  return json;
}

Json student_of(const StudentMarks& student, const Course& course) {
  Json tasks = Json::object();
  for (const TaskMarks& task : student.tasks) tasks[task.task->name] = task_of(task, course);
  return {{"name", student.name}, {"folder", student.folder},         {"points", or_null(student.points)},
          {"of", student.of},     {"needs_look", student.needs_look}, {"tasks", std::move(tasks)}};
}

Json blank_of(const BlankSummary& blank) {
  Json verdicts = Json::object();
  for (const auto& [verdict, n] : blank.verdicts) verdicts[name_of(verdict)] = n;
  return {{"task", blank.task->name},
          {"blank", blank.blank},
          {"of", blank.of},
          {"mean_points", blank.mean_points},
          {"verdicts", std::move(verdicts)}};
}

Json misconception_of(const Misconception& misconception, const Course& course) {
  Json students = Json::array();
  for (const StudentMarks* student : misconception.students) students.push_back(student->name);
  return {{"task", misconception.task->name},
          {"blank", misconception.blank ? Json(*misconception.blank) : Json()},
          {"verdict", name_of(misconception.verdict)},
          {"key", misconception.example.key},
          {"message", course.english.text(misconception.example)},
          {"students", std::move(students)}};
}

}  // namespace

std::string class_json(std::span<const StudentMarks> students, const Course& course) {
  const ClassSummary summary = summary_of(students, course);
  Json blanks = Json::array(), misconceptions = Json::array(), all = Json::array();
  for (const BlankSummary& blank : summary.blanks) blanks.push_back(blank_of(blank));
  for (const Misconception& one : summary.misconceptions) misconceptions.push_back(misconception_of(one, course));
  for (const StudentMarks& student : students) all.push_back(student_of(student, course));
  const Json json{{"title", sanitized_line(course.title)},
                  {"date", course.date},
                  {"progress",
                   {{"tasks", summary.n_tasks},
                    {"marked", summary.n_marked},
                    {"ungraded", summary.n_ungraded},
                    {"absent", summary.n_absent},
                    {"waiting", summary.n_waiting()}}},
                  {"statistics",
                   {{"students", summary.percents.size()},
                    {"mean_percent", or_null(summary.mean())},
                    {"median_percent", or_null(summary.median())}}},
                  {"blanks", std::move(blanks)},
                  {"misconceptions", std::move(misconceptions)},
                  {"students", std::move(all)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace odori::grader
