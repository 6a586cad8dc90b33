// SPDX-License-Identifier: Apache-2.0
// A check's screen.
#pragma once

#include <string>
#include <vector>

#include "checks/check_record.h"
#include "checks/judge_answer.h"
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
  /// What is shown to whose answer is right, and its page; no page if none could be written.
  void figure(const Figure& figure, const std::filesystem::path& page);
  /// The page with programs next to each other; nothing if it could not be written.
  void side_by_side(const std::filesystem::path& page);
  /// Points in all, and what to do next.
  void summary(const std::vector<BlankVerdict>& verdicts);

 private:
  void say(const std::string& text, int indent) const;
  std::string line_of(const BlankVerdict& verdict) const;

  const Question& question_;
  const Messages& messages_;
  bool colours_;
  int width_;
  std::optional<Finding> last_;  // what is no answer's own fault is not said twice in a row
  bool gap_ = false;             // the last line is empty
};

/// The figure in the learner's language.
Figure in_words(const ShownFigure& shown, const Messages& messages);

/// All of it for other programs: the record, with the verdicts' messages, points, exit code and flags for instructors.
std::string as_json(const Question& question, const CheckRecord& check, const std::vector<Finding>& flags,
                    const Messages& messages);

}  // namespace odori::grader
