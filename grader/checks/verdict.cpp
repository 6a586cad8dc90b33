// SPDX-License-Identifier: Apache-2.0
#include "checks/verdict.h"

#include <algorithm>
#include <array>

#include "errors/error.h"

namespace odori::grader {

namespace {

/// In the order of Verdict.
constexpr std::array<std::string_view, 10> verdict_names{
    "PASS", "INCONCLUSIVE", "UNFILLED", "MISSING", "WRONG", "COMPILE", "CRASH", "HANG", "ENVIRONMENT", "not checked"};

}  // namespace

const char* name_of(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)].data(); }

std::optional<Verdict> verdict_named(std::string_view name) {
  const auto found = std::find(verdict_names.begin(), verdict_names.end(), name);
  if (found == verdict_names.end()) return {};
  return static_cast<Verdict>(found - verdict_names.begin());
}

std::optional<Finding> hang_behind(const BlankVerdict& verdict) {
  if (verdict.verdict != Verdict::hang || !verdict.finding || verdict.finding->key.starts_with("hang")) return {};
  const auto& values = verdict.finding->values;
  if (values.contains("waits")) return Finding{"hang_messages", values};
  return values.contains("waiting") ? std::optional(Finding{"hang_collective", values}) : std::nullopt;
}

int exit_code_of(const std::vector<BlankVerdict>& verdicts) {
  static constexpr std::array<std::pair<Verdict, int>, 7> codes{{{Verdict::environment, 20},
                                                                 {Verdict::compile, 12},
                                                                 {Verdict::crash, 13},
                                                                 {Verdict::hang, 14},
                                                                 {Verdict::wrong, 11},
                                                                 {Verdict::missing, exit_code::unfilled},
                                                                 {Verdict::unfilled, exit_code::unfilled}}};
  for (const auto& [verdict, code] : codes)
    if (std::any_of(verdicts.begin(), verdicts.end(), [&](const BlankVerdict& v) { return v.verdict == verdict; }))
      return code;
  return exit_code::ok;
}

}  // namespace odori::grader
