#include "checks/verdict.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace odori::grader {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
    case Verdict::unfilled:
      return "UNFILLED";
    case Verdict::wrong:
      return "WRONG";
    case Verdict::compile:
      return "COMPILE";
    case Verdict::crash:
      return "CRASH";
    case Verdict::hang:
      return "HANG";
    case Verdict::environment:
      return "ENVIRONMENT";
    case Verdict::not_checked:
      return "not checked";
  }
  return "";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (const Verdict verdict :
       {Verdict::pass, Verdict::inconclusive, Verdict::unfilled, Verdict::wrong, Verdict::compile, Verdict::crash,
        Verdict::hang, Verdict::environment, Verdict::not_checked})
    if (name == name_of(verdict)) return verdict;
  return {};
}

std::optional<Finding> hang_behind(const BlankVerdict& verdict) {
  if (verdict.verdict != Verdict::hang || !verdict.finding || verdict.finding->key.starts_with("hang")) return {};
  const auto& values = verdict.finding->values;
  if (values.contains("waits")) return Finding{"hang_messages", values};
  return values.contains("waiting") ? std::optional(Finding{"hang_collective", values}) : std::nullopt;
}

int exit_code_of(const std::vector<BlankVerdict>& verdicts) {
  static constexpr std::array<std::pair<Verdict, int>, 6> codes{{{Verdict::environment, 20},
                                                                 {Verdict::compile, 12},
                                                                 {Verdict::crash, 13},
                                                                 {Verdict::hang, 14},
                                                                 {Verdict::wrong, 11},
                                                                 {Verdict::unfilled, exit_code::unfilled}}};
  for (const auto& [verdict, code] : codes)
    if (std::any_of(verdicts.begin(), verdicts.end(), [&](const BlankVerdict& v) { return v.verdict == verdict; }))
      return code;
  return exit_code::ok;
}

}  // namespace odori::grader
