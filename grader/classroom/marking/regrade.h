// SPDX-License-Identifier: Apache-2.0
// A class marked again, next to the marks that it has: shown first, taken only then.
//
//   RESULTS/regrade/students/STUDENT/TASK.json   what marking again gave
//   RESULTS/regrade/submitted/STUDENT/FILE       what was marked
//   RESULTS/regrade/batch.json                   nothing is left to be marked; what RESULTS/batch.json will be
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "classroom/marking/results.h"

namespace odori::grader {

class Regrade {
 public:
  explicit Regrade(Results& results) : results_(results) {}

  /// One that was cut short goes on. One that is complete is thrown away: for a new one, and whenever marks are made
  /// without it, since it no longer shows what would change.
  void begin() const;
  Records records() const { return results_.regraded(); }
  std::filesystem::path submitted() const { return results_.regrade() / "submitted"; }

  /// All is marked, by this version of the kit and on these terms.
  void complete(const std::string& kit_version, const Terms& terms) const;
  bool is_complete() const;
  /// Those that it was completed on.
  Terms terms() const { return read_batch_state(state_file()).terms; }

  struct Student {
    StudentRecord before, after;
  };
  /// The class as it is and as it would be, by name. An answer that can't be marked now changes nothing.
  std::vector<Student> students() const;
  /// Takes over what students() shows; earlier records go to the history. Cut short, it is to be called again.
  void apply();

 private:
  std::filesystem::path state_file() const { return results_.regrade() / "batch.json"; }

  Results& results_;
};

}  // namespace odori::grader
