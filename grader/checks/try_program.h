// SPDX-License-Identifier: Apache-2.0
// One program before the checks: in which test case it fails, and how.
#pragma once

#include <cstddef>
#include <optional>

#include "checks/checks.h"
#include "checks/verdict.h"

namespace odori::grader {

/// What came of one blank: PASS, WRONG, CRASH, HANG, ENVIRONMENT, or NOT_CHECKED if it uses names of a blank that is
/// wrong.
struct Outcome {
  Verdict verdict = Verdict::pass;
  std::optional<Finding> finding;
};

/// What came of a check in one test case.
struct Failure {
  std::size_t situation = 0;
  const Check* check = nullptr;
  Outcome outcome;
  bool settled = true;  // false: passed, or of a run that ended badly, which another check may explain better
};

Failure try_check(const Check& check, Runs& runs, const RunPlan& plan);

/// The first test case of [first, last) in which a program fails, and how. The checks of `blank` are tried first,
/// then those that are about all blanks; the others find what this blank does to facts that are not its own. Runs
/// GoogleTests, so do not call it within one. Throws Error on Ctrl-C.
std::optional<Failure> find_failure(Runs& runs, const Exam& exam, int blank, std::size_t first, std::size_t last);

}  // namespace odori::grader
