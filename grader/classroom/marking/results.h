// SPDX-License-Identifier: Apache-2.0
// RESULTS: the folder of a class's marks. One process at a time writes to it.
//
//   course.json, overrides.csv      the instructor's settings (../course); this and lists of students in CSV may be
//   there first batch.json                      {"form": 1, "salt": "...", "kit": SHA-256, "terms": {...}}: what the
//   marks were made by lock                            the process that took the lock last submitted/STUDENT/FILE what
//   was marked: copies of the submitted files students/STUDENT/TASK.json      a record (record.h), next to the reports
//   that are made from it students/STUDENT/student.json   who the student is history/STUDENT/TASK.N.json     earlier
//   records of other content (another answer, or marked by another version) regrade/                        what
//   --regrade found, until --apply takes it (regrade.h)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "classroom/course/settings.h"
#include "classroom/marking/lock.h"
#include "classroom/marking/record.h"

namespace odori::grader {

/// A folder of records: FOLDER/STUDENT/TASK.json, and those that they replaced.
class Records {
 public:
  Records(std::filesystem::path folder, std::filesystem::path history)
      : folder_(std::move(folder)), history_(std::move(history)) {}

  /// Nothing if there is none, or none that can be read.
  std::optional<TaskRecord> read(const std::string& student, const std::string& task) const;
  /// Writes to the disk. An existing record whose field `content` differs goes to the history first; one with the same
  /// content is overwritten. Throws WriteError.
  void write(const TaskRecord& record) const;
  /// Keeps who a student is. Throws WriteError.
  void write_people(const std::string& student, const std::vector<Person>& people) const;
  /// Moves the records of a student to the history.
  void forget(const std::string& student) const;
  /// All students' records, by name.
  std::vector<StudentRecord> all() const;
  std::filesystem::path of(const std::string& student) const { return folder_ / student; }

 private:
  std::filesystem::path folder_, history_;
};

/// Settings that all marks of a class share: batch.json.
struct BatchState {
  std::string salt;  // of the data that answers are checked on
  std::string kit;   // the version that the records were made by
  Terms terms;
};

/// Throws Refusal if the file can't be used.
BatchState read_batch_state(const std::filesystem::path& file);
/// Throws WriteError.
void write_batch_state(const std::filesystem::path& file, const BatchState& state);

class Results {
 public:
  /// Makes the folder if it does not exist, with this version and these terms (an existing folder keeps its own); takes
  /// the lock; removes files that an earlier process did not finish. Throws Refusal if the folder is not a RESULTS
  /// folder or another process holds the lock, and WriteError.
  Results(std::filesystem::path folder, const std::string& kit_version, Terms terms = usual_terms());

  const std::string& kit() const { return state_.kit; }
  const std::string& salt() const { return state_.salt; }
  const Terms& terms() const { return state_.terms; }
  /// Replaces the settings for all later records and marks.
  void set(BatchState state);

  std::filesystem::path submitted() const { return folder_ / "submitted"; }
  std::filesystem::path students() const { return folder_ / "students"; }
  /// What --regrade found: laid out as this folder is.
  std::filesystem::path regrade() const { return folder_ / "regrade"; }

  Records records() const { return {students(), folder_ / "history"}; }
  Records regraded() const { return {regrade() / "students", regrade() / "history"}; }

 private:
  std::filesystem::path folder_;
  Lock lock_;
  BatchState state_;
};

}  // namespace odori::grader
