// What is known of a student's answer to a task: RESULTS/students/STUDENT/TASK.json.
//
//   {"student": "aoki", "task": "multi_gpu", "content": "<SHA-256>", "kit": "<SHA-256>", "program": "<SHA-256>" or "",
//    "script": "<SHA-256>" or "", "state": "marked", "reason": null, "attempts": 1, "seconds": 3.2, "timed": false,
//    "flags": [FINDING ...], "check": {"seed": 1, "verdicts": [{"blank": 1, "verdict": "WRONG", "points": 0, "of": 20,
//    "key": "...", "values":
//    {...}} ...],
//              "speedup": {...} or null, "counts": {...} or null, "timeline": "FILE" or "",
//              "left_out": [{"file": "...", "line": 3, "removed": false, "text": "..."} ...]} or null}
//
// A FINDING is {"key": "...", "values": {...}}: the words, in either language, are found when a report is written.
// Fields may be added, as long as records without them are still read. Any other change of this form needs another
// `record_form`, so that older records are marked anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/verdict.h"
#include "exercise/finding.h"

namespace odori::grader {

inline constexpr int record_form = 1;

/// A line outside the blanks that isn't the kit's, and was left out.
struct LeftOut {
  std::string file;  // its name, without folders
  int line = 0;
  bool removed = false;  // the kit's line is missing
  std::string text;
  bool operator==(const LeftOut&) const = default;
};

/// What ./odori check says of one task.
struct CheckRecord {
  using Values = std::map<std::string, std::string>;

  std::uint64_t seed = 0;
  std::vector<BlankVerdict> verdicts;     // by blank; the speedup, number 0, comes last
  std::optional<Values> speedup, counts;  // what was measured, and counted
  std::string timeline;                   // RESULTS/students/STUDENT/<this>; empty: there is none
  std::vector<LeftOut> left_out;
  bool operator==(const CheckRecord&) const = default;
  /// The verdict on a blank; null if there is none.
  const BlankVerdict* on(int blank) const;
};

enum class RecordState {
  marked,    // `check` holds the verdicts
  ungraded,  // this machine's fault, told by `reason`: no mark either way
  absent     // none of the task's files was handed in: 0 points
};

/// "marked", "ungraded", "absent".
const char* name_of(RecordState state);

struct TaskRecord {
  std::string student, task;
  std::string content;  // SHA-256 of what was marked and of what marked it: the same need not be marked again
  // What that was: SHA-256 of the kit and of the files that were handed in. Empty in records from before it was kept.
  std::string kit, program, script;
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

std::string to_json(const TaskRecord& record);

/// Bounded, and with files by their names alone: where this machine keeps them is nothing to the student, and records
/// lie among what is given back.
Finding fit_to_keep(Finding finding);

/// Throws Error, with a sentence that says what is missing or of the wrong kind, for a text that isn't just so. All
/// findings in it are made fit to keep.
TaskRecord record_from_json(std::string_view text);

/// The speedup's verdict, if this machine couldn't measure it: it counts neither way, and is tried again.
const BlankVerdict* ungraded_speedup(const TaskRecord& record);

/// What `odori_grader check --json` wrote. Likewise strict.
CheckRecord check_from_json(std::string_view text);
/// The flags that it wrote, if any.
std::vector<Finding> flags_from_json(std::string_view text);

}  // namespace odori::grader
