// What the grader says about one blank.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

enum class Verdict { pass, inconclusive, unfilled, wrong, compile, crash, hang, environment, not_checked };

/// "PASS", "UNFILLED", ...: the same in every language.
const char* name_of(Verdict verdict);

/// What is to be said: the key of a section in messages/, and the values that its {placeholders} take. A known
/// misconception is a key of its own ("whole_set_for_each_device"). Values are numbers and names, not sentences.
struct Finding {
  std::string key;
  std::map<std::string, std::string> values;
  bool operator==(const Finding&) const = default;
};

struct BlankVerdict {
  int blank = 0;  // 0: the speedup
  Verdict verdict = Verdict::not_checked;
  std::optional<Finding> finding;  // why, unless PASS
  double points = 0, of = 0;
};

/// Of several verdicts, as grader/README.md has it.
int exit_code_of(const std::vector<BlankVerdict>& verdicts);

}  // namespace odori::grader
