// What the grader says about one blank.
#pragma once

#include <optional>
#include <vector>

#include "exercise/finding.h"

namespace odori::grader {

enum class Verdict { pass, inconclusive, unfilled, wrong, compile, crash, hang, environment, not_checked };

/// "PASS", "UNFILLED", ...: the same in every language.
const char* name_of(Verdict verdict);

struct BlankVerdict {
  int blank = 0;  // 0: the speedup
  Verdict verdict = Verdict::not_checked;
  std::optional<Finding> finding;  // why, unless PASS
  double points = 0, of = 0;
};

/// Of several verdicts, as grader/README.md has it.
int exit_code_of(const std::vector<BlankVerdict>& verdicts);

}  // namespace odori::grader
