// SPDX-License-Identifier: Apache-2.0
// What is known of a student's answer to a task: RESULTS/students/STUDENT/TASK.json.
//
//   {"student": "aoki", "task": "multi_gpu", "content": "<SHA-256>", "state": "marked", "reason": null, "attempts": 1,
//    "seconds": 3.2, "timed": false, "flags": [FINDING ...], "check": {...} or null}
//
// "check" is as checks/check_record.h has it. A FINDING is {"key": "...", "values": {...}}: the words, in either
// language, are found when a report is written. Fields may be added, as long as records without them are still read.
// Any other change of this form needs another `record_form`, so that older records are marked again.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"
#include "checks/check_record.h"

namespace odori::grader {

inline constexpr int record_form = 1;

enum class RecordState {
  marked,    // `check` holds the verdicts
  ungraded,  // this machine's fault, told by `reason`: no mark either way
  absent     // none of the task's files was submitted: 0 points
};

/// "marked", "ungraded", "absent".
const char* name_of(RecordState state);

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
  bool operator==(const TaskRecord&) const = default;
};

struct StudentRecord {
  std::string name;                         // also of its folder below RESULTS/students
  std::map<std::string, TaskRecord> tasks;  // by the task's name
  bool operator==(const StudentRecord&) const = default;
};

nlohmann::ordered_json json_of(const TaskRecord& record);
std::string to_json(const TaskRecord& record);

/// Throws Error, with a sentence that says what is missing or of the wrong kind, for a text that isn't just so. All
/// findings in it are made fit to keep.
TaskRecord record_from_json(std::string_view text);

/// The speedup's verdict, if this machine couldn't measure it: it counts neither way, and is tried again.
const BlankVerdict* ungraded_speedup(const TaskRecord& record);
/// Why the answer, or its speedup alone, is ungraded; nothing if it isn't.
std::optional<Finding> why_ungraded(const TaskRecord& record);

}  // namespace odori::grader
