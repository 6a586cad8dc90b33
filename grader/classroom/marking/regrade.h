// A class marked again, next to the marks that it has: shown first, taken only then.
//
//   RESULTS/regrade/students/STUDENT/TASK.json   what marking again gave
//   RESULTS/regrade/submitted/STUDENT/FILE       what was marked
//   RESULTS/regrade/complete.json                {"kit": SHA-256, "everybody": true, "timings": ..., "tasks": ...}:
//   nothing is left
//                                              to be marked; what RESULTS/batch.json will say
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "classroom/marking/results.h"

namespace odori::grader {

/// What would change for a student. A blank's verdicts, or that of all blanks of a task.
struct ChangedVerdict {
  std::string student, task;
  std::optional<int> blank;                   // none: the task as a whole (its state)
  std::optional<BlankVerdict> before, after;  // of the blank; none where there is no verdict
  std::string state_before, state_after;      // of the task; before it was marked, empty
};

class Regrade {
 public:
  explicit Regrade(Results& results) : results_(results) {}

  /// One that was cut short goes on; one that is complete is thrown away for a new one, and when marks are made without
  /// it: it shows no longer what would change.
  void begin() const;
  Records records() const { return results_.regraded(); }
  std::filesystem::path submitted() const { return results_.regrade() / "submitted"; }

  /// All is marked, by this version of the kit and on these terms. `everybody`: every answer of the class.
  void complete(const std::string& kit_version, const Terms& terms, bool everybody) const;
  bool is_complete() const;
  /// Those that it was completed on.
  Terms terms() const;

  struct Student {
    StudentRecord before, after;
  };
  /// The class as it is and as it would be, by name.
  std::vector<Student> students() const;
  /// In the students' order. An answer that can't be marked now changes nothing.
  std::vector<ChangedVerdict> changes() const;
  /// Takes over what changes() shows; earlier records that differ go to the history. Cut short, it is to be called
  /// again.
  void apply();

 private:
  struct Completed {
    std::string kit;
    Terms terms;
    bool everybody = false;
  };
  Completed completed() const;

  Results& results_;
};

/// What differs between two records of the same answer. `before`: none, if it wasn't marked yet.
std::vector<ChangedVerdict> changes_between(const std::optional<TaskRecord>& before, const TaskRecord& after);

/// If only the older one holds a measured speedup, and all blanks are still right, the newer one takes it over.
TaskRecord with_speedup_of(const std::optional<TaskRecord>& before, TaskRecord after);

}  // namespace odori::grader
