// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/regrade.h"

#include <map>

#include "classroom/refusal.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

void copy_files(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(from, error))
    if (file.is_regular_file()) replace_file(to / file.path().filename(), read_file(file.path()));
}

}  // namespace

void Regrade::begin() const {
  std::error_code error;
  if (is_complete()) fs::remove_all(results_.regrade(), error);
}

void Regrade::complete(const std::string& kit_version, const Terms& terms) const {
  write_batch_state(state_file(), {results_.salt(), kit_version, terms});
}

bool Regrade::is_complete() const { return fs::exists(state_file()); }

std::vector<Regrade::Student> Regrade::students() const {
  std::map<std::string, Student> all;
  for (const StudentRecord& student : results_.records().all()) all[student.name] = {student, student};
  for (const StudentRecord& fresh : records().all()) {
    const StudentRecord none{.name = fresh.name, .tasks = {}, .people = fresh.people};
    Student& student = all.try_emplace(fresh.name, Student{none, none}).first->second;
    for (const auto& [task, record] : fresh.tasks)
      if (!why_ungraded(record)) student.after.tasks[task] = record;
  }
  std::vector<Student> students;
  for (auto& [name, student] : all) students.push_back(std::move(student));
  return students;
}

void Regrade::apply() {
  if (!is_complete()) throw Refusal({"nothing_to_apply", {}});
  const BatchState state = read_batch_state(state_file());
  for (const StudentRecord& student : records().all()) {
    for (const auto& [task, fresh] : student.tasks) {
      if (why_ungraded(fresh)) continue;  // also one whose speedup could not be measured
      const std::string page = fresh.check ? fresh.check->timeline : "";
      if (!page.empty() && fs::is_regular_file(records().of(student.name) / page))
        replace_file(results_.records().of(student.name) / page, read_file(records().of(student.name) / page));
      results_.records().write(fresh);
    }
    copy_files(submitted() / student.name, results_.submitted() / student.name);
    results_.records().write_people(student.name, student.people);
  }
  results_.set(state);
  std::error_code error;
  fs::remove_all(results_.regrade(), error);
}

}  // namespace odori::grader
