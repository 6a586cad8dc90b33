// A check's screen.
#pragma once

#include <string>
#include <vector>

#include "checks/check_record.h"
#include "checks/judge_answer.h"
#include "checks/speedup_step.h"
#include "messages/messages.h"

namespace odori::grader {

/// Who is told what a check finds, as it finds it.
class CheckAudience {
 public:
  virtual ~CheckAudience() = default;
  /// What was changed outside the blanks.
  virtual void left_out(const Submission& submission) = 0;
  virtual void verdict(const BlankVerdict& verdict) = 0;
  /// Before the speedup, which takes up to a minute.
  virtual void measuring() = 0;
  /// What was measured and counted, below its verdict.
  virtual void speedup(const SpeedupStep& step) = 0;
  /// What is shown to whose answer is right, and its page; no page if none could be written.
  virtual void figure(const Figure& figure, const std::filesystem::path& page) = 0;
  /// Points in all, and what to do next.
  virtual void summary(const std::vector<BlankVerdict>& verdicts) = 0;
};

/// One line a blank, as its verdict comes, and below it what is to be said.
class Screen : public CheckAudience {
 public:
  Screen(const Question& question, const Messages& messages);

  void left_out(const Submission& submission) override;
  void verdict(const BlankVerdict& verdict) override;
  void measuring() override;
  void speedup(const SpeedupStep& step) override;
  void figure(const Figure& figure, const std::filesystem::path& page) override;
  void summary(const std::vector<BlankVerdict>& verdicts) override;

 private:
  void say(const std::string& text, int indent) const;

  const Question& question_;
  const Messages& messages_;
  bool colours_;
  int width_;
  std::optional<Finding> last_;  // what is no answer's own fault is not said twice in a row
  bool gap_ = false;             // the last line is empty
};

/// The same for ./odori watch, which lays it out itself: a line of JSON on standard output for each verdict, with its
/// message, and for each other thing that is said ({"text":}).
class Feed : public CheckAudience {
 public:
  Feed(const Question& question, const Messages& messages) : question_(question), messages_(messages) {}

  void left_out(const Submission& submission) override;
  void verdict(const BlankVerdict& verdict) override;
  void measuring() override {}
  void speedup(const SpeedupStep& step) override;
  void figure(const Figure& figure, const std::filesystem::path& page) override;
  void summary(const std::vector<BlankVerdict>& verdicts) override;

 private:
  void say(const std::string& text) const;

  const Question& question_;
  const Messages& messages_;
};

/// The figure in the learner's language.
Figure in_words(const ShownFigure& shown, const Messages& messages);

/// A line of the table of verdicts.
struct Row {
  int blank = 0;  // 0: the speedup
  std::string name, verdict;
  double points = 0, of = 0;
  bool fresh = true;  // else points aren't known, and the verdict was that of an earlier text
};

/// The row in this many columns, its verdict coloured if asked for.
std::string line_of(const Row& row, int width, bool colours);
/// Does standard output show colours? NO_COLOR says no, and so do terminals that have none.
bool wants_colours();

/// All of it for other programs: the record, with the verdicts' messages, points, exit code and flags for instructors.
std::string as_json(const Question& question, const CheckRecord& check, const std::vector<Finding>& flags,
                    const Messages& messages);

}  // namespace odori::grader
