// SPDX-License-Identifier: Apache-2.0
// What is known of a student's answer to a task: RESULTS/students/STUDENT/TASK.json.
//
//   {"student": "aoki", "task": "multi_gpu", "content": "<SHA-256>", "state": "marked", "reason": null, "attempts": 1,
//    "seconds": 3.2, "timed": false, "flags": [FINDING ...], "check": {...} or null, "submitted": 1796000000,
//    "files": [{"name": "train_cifar_multi_gpu.cpp", "taken": "odori/train_cifar_multi_gpu.cpp", "modified":
//    1796000000,
//               "others": [{"file": "old/train_cifar_multi_gpu.cpp", "modified": 0, "filled": true} ...]} ...]}
//
// "check" is as checks/check_record.h has it. A FINDING is {"key": "...", "values": {...}}: the words, in either
// language, are found when a report is written. Fields may be added, as long as records without them are still read.
// Any other change of this form needs another `record_form`, so that older records are marked again.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"
#include "checks/check_record.h"
#include "classroom/course/roster.h"

namespace odori::grader {

inline constexpr int record_form = 1;

enum class RecordState {
  marked,    // `check` holds the verdicts
  ungraded,  // this machine's fault, told by `reason`: no mark either way
  absent     // none of the task's files was submitted: 0 points
};

/// "marked", "ungraded", "absent".
const char* name_of(RecordState state);

/// A file that could have been marked as well. Paths are below the student's folder.
struct Alternative {
  std::string file;
  std::int64_t modified = 0;  // seconds since 1970; 0: unknown
  bool filled = true;         // false: each of its blanks is still empty
  bool operator==(const Alternative&) const = default;
};

/// The file that was marked as one of the exercise's, and those with another text that were not.
struct ChosenFile {
  std::string name, taken;
  std::int64_t modified = 0;
  std::vector<Alternative> others;
  bool operator==(const ChosenFile&) const = default;
};

struct TaskRecord {
  std::string student, task;
  std::string content;  // SHA-256 of what was marked and of what marked it: the same need not be marked again
  RecordState state = RecordState::ungraded;
  std::optional<Finding> reason;  // why it is ungraded
  int attempts = 1;
  double seconds = 0;          // that the marking took, all attempts together
  bool timed = false;          // whether the speedup was measured, or can't count as a blank isn't right
  std::vector<Finding> flags;  // why somebody should have a look
  std::optional<CheckRecord> check;
  std::int64_t submitted = 0;     // seconds since 1970; 0: unknown
  std::vector<ChosenFile> files;  // of those that were found
  bool operator==(const TaskRecord&) const = default;
};

struct StudentRecord {
  std::string name;                         // of its folder below RESULTS/students
  std::map<std::string, TaskRecord> tasks;  // by the task's name
  std::vector<Person> people;               // several for a group; none: the folder is all that is known
  bool operator==(const StudentRecord&) const = default;
};

nlohmann::ordered_json json_of(const TaskRecord& record);
std::string to_json(const TaskRecord& record);

/// Throws Error, with a sentence that says what is missing or of the wrong kind, for a text that isn't just so. All
/// findings in it are made fit to keep.
TaskRecord record_from_json(std::string_view text);

/// RESULTS/students/STUDENT/student.json: {"people": [{"name": "...", "email": "..."} ...]}. Unknown fields are left
/// out. The reader throws Error as above.
std::string people_to_json(const std::vector<Person>& people);
std::vector<Person> people_from_json(std::string_view text);

/// The speedup's verdict, if this machine couldn't measure it: it counts neither way, and is tried again.
const BlankVerdict* ungraded_speedup(const TaskRecord& record);
/// Why the answer, or its speedup alone, is ungraded; nothing if it isn't.
std::optional<Finding> why_ungraded(const TaskRecord& record);

}  // namespace odori::grader
