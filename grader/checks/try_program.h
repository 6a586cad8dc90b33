// One program before the checks: in which situation it fails, and how.
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

/// What came of a check, and whether another one may still have a better word for it: of a run that ended badly, the
/// first check that knows why tells it.
struct Tried {
  Outcome outcome;
  bool settled = true;
};

Tried try_check(const Check& check, Runs& runs, const RunPlan& plan);

/// The first situation in which a program fails, and how.
struct Failure {
  std::size_t situation = 0;
  const Check* check = nullptr;
  Outcome outcome;
  bool settled = false;
};

/// Tries a program in situations [first, last). The checks of `blank` have the first word, then those that are about
/// all; the others find what this blank does to facts that aren't its own. As GoogleTests, so not to be called
/// within one. Throws Error on Ctrl-C.
std::optional<Failure> find_failure(Runs& runs, const Exam& exam, int blank, std::size_t first, std::size_t last);

/// Whether a program passes every check in every situation. As find_failure().
bool is_right(Runs& runs, const Exam& exam);

}  // namespace odori::grader
