// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/looks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "blanks/listed.h"
#include "classroom/reports/sanitized.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_alike = 3, most_characters = 300;  // of one value: a reason is a line or two

constexpr int ungraded = 0, other = 7;

/// The smaller, the more serious.
int rank_of(const Finding& why) {
  static const std::map<std::string, int> ranks{{"flag_outside", 1}, {"flag_forbidden", 2}, {"flag_too_good", 3},
                                                {"flag_unusual", 3}, {"flag_unsteady", 3},  {"flag_several_files", 4},
                                                {"flag_again", 4},   {"look_alike", 5},     {"flag_hidden", 6},
                                                {"look_absent", 8},  {"look_found", 9}};
  const auto found = ranks.find(why.key);
  return found == ranks.end() ? other : found->second;
}

void add(std::vector<Reason>& reasons, const std::string& task, Finding why, std::optional<int> rank = {}) {
  if (!rank)
    for (auto& [name, value] : why.values) value = sanitized_line(value, most_characters);
  const auto known = std::ranges::find(reasons, why, &Reason::why);
  if (known == reasons.end())
    reasons.push_back({{task}, why, rank.value_or(rank_of(why))});
  else if (known->tasks.back() != task)
    known->tasks.push_back(task);
}

/// One sentence for all tasks that were not handed in, and one for what was there instead.
void add_absent(std::vector<Reason>& reasons, const std::string& task, const TaskRecord& record) {
  add(reasons, task, {"look_absent", {}});
  for (const Finding& flag : record.flags)
    if (flag.key == "flag_other_names")
      add(reasons, task, {"look_found", {{"files", flag.values.at("files")}}});
    else if (flag.key != "flag_absent")
      add(reasons, task, flag);
}

std::vector<Reason> reasons_of(const StudentMarks& student) {
  std::vector<Reason> reasons;
  for (const TaskMarks& task : student.tasks) {
    if (!task.record) continue;
    const std::string& name = task.task->name;
    if (const auto why = why_ungraded(*task.record)) add(reasons, name, *why, ungraded);
    if (task.record->state == RecordState::absent) {
      add_absent(reasons, name, *task.record);
      continue;
    }
    for (const Finding& flag : task.record->flags) add(reasons, name, flag);
    if (!task.alike.empty())
      add(reasons, name,
          {"look_alike", {{"n", std::to_string(task.alike.size())}, {"names", listed(task.alike, most_alike)}}});
  }
  std::ranges::stable_sort(reasons, {}, &Reason::rank);
  return reasons;
}

bool holds_an_answer(const TaskRecord& record) {
  return record.check && !record.content.empty() &&
         std::ranges::any_of(record.check->verdicts, [](const BlankVerdict& verdict) {
           return verdict.blank != 0 && verdict.verdict != Verdict::unfilled;
         });
}

}  // namespace

std::vector<Look> looks_of(std::span<const StudentMarks> students) {
  std::vector<Look> looks;
  for (const StudentMarks& student : students)
    if (auto reasons = reasons_of(student); !reasons.empty()) looks.push_back({&student, std::move(reasons)});
  std::ranges::stable_sort(looks, {}, [](const Look& look) { return look.reasons.front().rank; });
  return looks;
}

void find_alike(std::span<StudentMarks> students) {
  std::map<std::string, std::vector<StudentMarks*>> by_content;
  for (StudentMarks& student : students)
    for (TaskMarks& task : student.tasks)
      if (task.record && holds_an_answer(*task.record)) by_content[task.record->content].push_back(&student);
  for (const auto& [content, same] : by_content) {
    if (same.size() < 2) continue;
    for (StudentMarks* student : same) {
      const auto task = std::ranges::find_if(
          student->tasks, [&](const TaskMarks& one) { return one.record && one.record->content == content; });
      for (const StudentMarks* other : same)
        if (other != student) task->alike.push_back(other->name);
      student->needs_look = true;
    }
  }
}

}  // namespace odori::grader
