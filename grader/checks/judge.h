// From checks to verdicts, with GoogleTest.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "checks/checks.h"
#include "checks/verdict.h"

namespace odori::grader {

/// What is judged. The runs live as long as this.
struct Judged {
  Runs* whole = nullptr;          // of all filled blanks together; none if there is no such program
  std::map<int, Runs*> variants;  // of each blank alone
};

/// What came of one blank: PASS, WRONG, CRASH, HANG or ENVIRONMENT.
struct Outcome {
  Verdict verdict = Verdict::pass;
  std::optional<Finding> finding;
};

/// Judges each blank that has a variant by the checks that are its own, as GoogleTests. If the whole is right all its
/// blanks are; otherwise each is judged in its variant, and if all are right there, that one is wrong whose check the
/// whole fails. `tell` hears of each blank as soon as it is decided. Not to be
/// called within a GoogleTest. Throws Error on Ctrl-C.
void judge(const Judged& judged, const std::vector<Check>& checks,
           const std::function<void(int blank, const Outcome&)>& tell);

}  // namespace odori::grader
