// RESULTS: the folder that a class's marks are kept in, by one batch at a time.
//
//   batch.json                      {"form": 1, "salt": "...", "kit": SHA-256, "began": "2026-11-21 14:30:00",
//                                    "timings": true, "tasks": ["multi_gpu", "multi_node"]}
//   lock                            who marks right now
//   scratch                         while it does: the folder that its children work in
//   submitted/STUDENT/FILE          what was marked: copies of what was handed in
//   students/STUDENT/TASK.json      a record (record.h); beside it what is made from it
//   history/STUDENT/TASK.N.json     earlier records of an answer that was marked anew
//   regrade/                        what --regrade found, until --apply takes it (regrade.h)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "classroom/marking/lock.h"
#include "classroom/marking/record.h"

namespace odori::grader {

/// Folders of records: FOLDER/STUDENT/TASK.json, and what they were before.
class Records {
 public:
  enum class Old { kept, replaced };

  Records(std::filesystem::path folder, std::filesystem::path history)
      : folder_(std::move(folder)), history_(std::move(history)) {}

  /// Nothing if there is none, or none that can be read.
  std::optional<TaskRecord> read(const std::string& student, const std::string& task) const;
  /// Durably. The record that is there goes to the history first, if it is to be kept. Throws Refusal.
  void write(const TaskRecord& record, Old old) const;
  /// All students' that there are, by name.
  std::vector<StudentRecord> all() const;
  std::filesystem::path of(const std::string& student) const { return folder_ / student; }

 private:
  std::filesystem::path folder_, history_;
};

/// What a class was asked. Everybody's percentage rests on it, so that it changes for all of them or for nobody.
struct Terms {
  bool timings = true;             // speedups count
  std::vector<std::string> tasks;  // by name, in the order of all_tasks()
  bool operator==(const Terms&) const = default;
};

class Results {
 public:
  /// Makes the folder where there is none, takes the lock, and removes what an earlier batch left half-written. A new
  /// one begins with these terms. Throws Refusal: the folder is no such one, or can't be written to, or another process
  /// is at work in it.
  Results(std::filesystem::path folder, const std::string& kit_version, Terms terms = {});
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// The version of the kit that the records were made by.
  const std::string& kit() const { return kit_; }
  const std::string& salt() const { return salt_; }
  /// What the batch was begun with. Batches from before this was written down: what their records tell.
  const Terms& terms() const { return terms_; }
  /// From now on all records are this version's, and all marks go by these terms.
  void set(const std::string& kit_version, const Terms& terms);
  /// Nothing could be taken in: a folder that was new is as it was.
  void forget() const;

  std::filesystem::path submitted() const { return folder_ / "submitted"; }
  std::filesystem::path students() const { return folder_ / "students"; }
  /// What --regrade found: laid out as this folder is.
  std::filesystem::path regrade() const { return folder_ / "regrade"; }
  const std::filesystem::path& folder() const { return folder_; }
  /// Short, as sockets lie in it; this user's own; gone with this object, or removed by the next batch.
  const std::filesystem::path& scratch() const { return scratch_; }

  Records records() const { return {students(), folder_ / "history"}; }
  Records regraded() const { return {regrade() / "students", {}}; }

 private:
  void read_or_begin(const std::string& kit_version, Terms terms);
  Terms terms_of_records() const;
  std::filesystem::path fresh_scratch() const;
  void remove_unfinished() const;

  std::filesystem::path folder_, scratch_;
  bool made_folder_ = false, began_now_ = false;
  Lock lock_;
  std::string kit_, salt_, began_;
  Terms terms_;
};

}  // namespace odori::grader
