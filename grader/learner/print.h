// A check's screen.
#pragma once

#include <string>
#include <vector>

#include "checks/grade.h"
#include "checks/speedup_step.h"
#include "messages/messages.h"

namespace odori::grader {

/// One line a blank, as its verdict comes, and below it what is to be said.
class Screen {
 public:
  Screen(const Question& question, const Messages& messages);

  /// What was changed outside the blanks.
  void left_out(const Submission& submission);
  void verdict(const BlankVerdict& verdict);
  /// Before the speedup, which takes up to a minute.
  void measuring();
  /// What was measured and counted, below its verdict.
  void speedup(const SpeedupStep& step);
  /// Points in all, and what to do next.
  void summary(const std::vector<BlankVerdict>& verdicts);

 private:
  void say(const std::string& text, int indent) const;

  const Question& question_;
  const Messages& messages_;
  bool colours_;
  int width_;
  std::optional<Finding> last_;  // the same is not said twice in a row
  bool gap_ = false;             // the last line is empty
};

/// All of it for other programs: the verdicts with their messages, what was measured, what was left out, flags
/// for instructors, seed and exit code.
std::string as_json(const Question& question, const Answers& answers, const std::vector<BlankVerdict>& verdicts,
                    const std::optional<SpeedupStep>& step, const Messages& messages);

}  // namespace odori::grader
