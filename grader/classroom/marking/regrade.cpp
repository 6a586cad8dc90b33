#include "classroom/marking/regrade.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "classroom/marking/durable_file.h"
#include "classroom/marking/marking.h"
#include "classroom/marking/refusal.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const BlankVerdict* verdict_on(const std::optional<TaskRecord>& record, int blank) {
  return record && record->check ? record->check->on(blank) : nullptr;
}

std::optional<BlankVerdict> copy_of(const BlankVerdict* verdict) {
  return verdict ? std::optional(*verdict) : std::nullopt;
}

bool same_mark(const BlankVerdict* a, const BlankVerdict* b) {
  return a && b ? a->verdict == b->verdict && a->points == b->points && a->of == b->of : a == b;
}

void copy_files(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(from, error))
    if (file.is_regular_file()) write_durably(to / file.path().filename(), read_file(file.path()));
}

}  // namespace

std::vector<ChangedVerdict> changes_between(const std::optional<TaskRecord>& before, const TaskRecord& after) {
  std::vector<ChangedVerdict> changes;
  const std::string state = before ? name_of(before->state) : "";
  const auto add = [&](std::optional<int> blank, const BlankVerdict* old, const BlankVerdict* fresh) {
    changes.push_back({after.student, after.task, blank, copy_of(old), copy_of(fresh), state, name_of(after.state)});
  };
  if (state != name_of(after.state)) add({}, nullptr, nullptr);
  if (!after.check) return changes;
  for (const BlankVerdict& verdict : after.check->verdicts)
    if (const BlankVerdict* old = verdict_on(before, verdict.blank); !same_mark(old, &verdict))
      add(verdict.blank, old, &verdict);
  return changes;
}

TaskRecord with_speedup_of(const std::optional<TaskRecord>& before, TaskRecord after) {
  if (!before || !before->check || !after.check || !before->timed || after.timed) return after;
  const BlankVerdict* measured = verdict_on(before, 0);
  if (!measured || !all_blanks_right(*before->check)) return after;
  for (BlankVerdict& verdict : after.check->verdicts)
    if (verdict.blank == 0) verdict = *measured;
  after.check->speedup = before->check->speedup;
  after.check->counts = before->check->counts;
  after.check->timeline = before->check->timeline;
  after.timed = true;
  return after;
}

void Regrade::begin() const {
  std::error_code error;
  if (is_complete()) fs::remove_all(results_.regrade(), error);
}

void Regrade::complete(const std::string& kit_version, const Terms& terms, bool everybody) const {
  const nlohmann::ordered_json json{
      {"kit", kit_version}, {"everybody", everybody}, {"timings", terms.timings}, {"tasks", terms.tasks}};
  write_durably(results_.regrade() / "complete.json", json.dump(2) + '\n');
}

Regrade::Completed Regrade::completed() const {
  try {
    const auto json = nlohmann::json::parse(read_file(results_.regrade() / "complete.json"));
    return {json.at("kit"), {json.at("timings"), json.at("tasks")}, json.at("everybody")};
  } catch (const nlohmann::json::exception&) {
    throw Refusal({"nothing_to_apply", {}});  // or it is an earlier version's
  }
}

Terms Regrade::terms() const { return completed().terms; }

bool Regrade::is_complete() const { return fs::exists(results_.regrade() / "complete.json"); }

std::vector<Regrade::Student> Regrade::students() const {
  std::map<std::string, Student> all;
  for (StudentRecord& student : results_.records().all()) all[student.name] = {student, student};
  for (const StudentRecord& fresh : records().all()) {
    Student& student = all.try_emplace(fresh.name, Student{{fresh.name, {}}, {fresh.name, {}}}).first->second;
    for (const auto& [task, record] : fresh.tasks)
      if (record.state != RecordState::ungraded)
        student.after.tasks[task] = with_speedup_of(results_.records().read(fresh.name, task), record);
  }
  std::vector<Student> students;
  for (auto& [name, student] : all) students.push_back(std::move(student));
  return students;
}

std::vector<ChangedVerdict> Regrade::changes() const {
  std::vector<ChangedVerdict> all;
  for (const auto& [before, after] : students())
    for (const auto& [task, record] : after.tasks) {
      const auto old = before.tasks.find(task);
      const auto changes =
          changes_between(old == before.tasks.end() ? std::nullopt : std::optional(old->second), record);
      all.insert(all.end(), changes.begin(), changes.end());
    }
  return all;
}

void Regrade::apply() {
  const Completed done = completed();
  for (const StudentRecord& student : records().all()) {
    for (const auto& [task, fresh] : student.tasks) {
      if (fresh.state == RecordState::ungraded) continue;
      const auto before = results_.records().read(student.name, task);
      const TaskRecord after = with_speedup_of(before, fresh);
      if (before == after) continue;
      const bool differs = before && !changes_between(before, after).empty();
      const fs::path page = records().of(student.name) / after.check.value_or(CheckRecord()).timeline;
      std::error_code error;
      if (fs::is_regular_file(page, error))
        write_durably(results_.records().of(student.name) / page.filename(), read_file(page));
      results_.records().write(after, differs ? Records::Old::kept : Records::Old::replaced);
    }
    copy_files(submitted() / student.name, results_.submitted() / student.name);
  }
  if (done.everybody) results_.set(done.kit, done.terms);
  std::error_code error;
  fs::remove_all(results_.regrade(), error);
}

}  // namespace odori::grader
