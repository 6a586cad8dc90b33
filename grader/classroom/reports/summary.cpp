// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/summary.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "blanks/submission.h"

namespace odori::grader {
namespace {

/// These say nothing of what a student thinks: nothing is there, or something else has to be mended first.
bool is_a_misconception(const BlankVerdict& verdict) {
  static const std::set<Verdict> mistakes{Verdict::wrong, Verdict::compile, Verdict::crash, Verdict::hang};
  return mistakes.contains(verdict.verdict) && verdict.finding && verdict.finding->key != "file_not_handed_in";
}

void count(ClassSummary& summary, const TaskMarks& task, bool timings) {
  ++summary.n_tasks;
  if (!task.record) return;
  switch (task.record->state) {
    case RecordState::marked:
      ++summary.n_marked;
      if (timings && task.task->measures_speedup && !task.record->timed && !ungraded_speedup(*task.record))
        ++summary.n_untimed;
      break;
    case RecordState::ungraded:
      ++summary.n_ungraded;
      break;
    case RecordState::absent:
      ++summary.n_absent;
      break;
  }
}

BlankSummary summary_of(const Task& task, int blank, std::size_t task_index, std::span<const StudentMarks> students) {
  BlankSummary summary{.task = &task_named(task.name), .blank = blank};
  int n_counted = 0;
  for (const StudentMarks& student : students)
    for (const Mark& mark : student.tasks[task_index].marks) {
      if (mark.blank != blank) continue;
      summary.of = mark.of;
      if (!mark.verdict) continue;
      ++summary.verdicts[mark.verdict->verdict];
      if (!mark.counts) continue;
      ++n_counted;
      summary.mean_points += mark.points.value_or(0);
    }
  summary.mean_points /= std::max(1, n_counted);
  return summary;
}

std::vector<Misconception> misconceptions_of(std::span<const StudentMarks> students) {
  std::vector<Misconception> all;
  for (const StudentMarks& student : students)
    for (const TaskMarks& task : student.tasks)
      for (const Mark& mark : task.marks) {
        if (!mark.verdict || !is_a_misconception(*mark.verdict)) continue;
        const Finding& finding = *mark.verdict->finding;
        const std::optional<int> blank = hides_answers(finding) ? std::nullopt : std::optional(mark.blank);
        auto known = std::find_if(all.begin(), all.end(), [&](const Misconception& other) {
          return other.task == task.task && other.blank == blank && other.example.key == finding.key;
        });
        if (known == all.end()) known = all.insert(all.end(), {task.task, blank, mark.verdict->verdict, finding, {}});
        if (known->students.empty() || known->students.back() != &student) known->students.push_back(&student);
      }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.students.size() > b.students.size(); });
  return all;
}

}  // namespace

std::optional<double> BlankSummary::share_right() const {
  int n = 0;
  for (const auto& [verdict, count] : verdicts) n += count;
  if (n == 0) return std::nullopt;
  const auto right = verdicts.find(Verdict::pass);
  return right == verdicts.end() ? 0.0 : 100.0 * right->second / n;
}

std::optional<double> ClassSummary::mean() const {
  if (percents.empty()) return std::nullopt;
  return std::accumulate(percents.begin(), percents.end(), 0.0) / static_cast<double>(percents.size());
}

std::optional<double> ClassSummary::median() const {
  if (percents.empty()) return std::nullopt;
  const std::size_t n = percents.size();
  return (percents[(n - 1) / 2] + percents[n / 2]) / 2;
}

ClassSummary summary_of(std::span<const StudentMarks> students, const Course& course) {
  ClassSummary summary;
  for (const StudentMarks& student : students) {
    for (const TaskMarks& task : student.tasks) count(summary, task, course.timings);
    if (student.points && student.of > 0) summary.percents.push_back(100 * *student.points / student.of);
  }
  std::sort(summary.percents.begin(), summary.percents.end());
  for (std::size_t i = 0; i < course.tasks.size(); ++i)
    for (const int blank : course.tasks[i].judged())
      if (course.points_of.at(course.tasks[i].name).contains(blank))
        summary.blanks.push_back(summary_of(course.tasks[i], blank, i, students));
  summary.misconceptions = misconceptions_of(students);
  return summary;
}

}  // namespace odori::grader
