// SPDX-License-Identifier: Apache-2.0
// What the grader says about one blank.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "blanks/finding.h"

namespace odori::grader {

enum class Verdict {
  pass,
  inconclusive,
  unfilled,
  missing,  // the file of the blank does not exist
  wrong,
  compile,
  crash,
  hang,
  environment,
  not_checked
};

/// "PASS", "UNFILLED", ...: the same in every language.
const char* name_of(Verdict verdict);
/// The verdict of this name; nothing if there is none.
std::optional<Verdict> verdict_named(std::string_view name);

struct BlankVerdict {
  int blank = 0;  // 0: the speedup
  Verdict verdict = Verdict::not_checked;
  std::optional<Finding> finding;  // why; with PASS, what else there is to know
  double points = 0, of = 0;
  bool operator==(const BlankVerdict&) const = default;
};

/// Who waited for whom, where a HANG's own finding is a known misconception: to be printed after that.
std::optional<Finding> hang_behind(const BlankVerdict& verdict);

/// Of several verdicts, as grader/README.md has it.
int exit_code_of(const std::vector<BlankVerdict>& verdicts);

}  // namespace odori::grader
