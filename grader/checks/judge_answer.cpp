#include "checks/judge_answer.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>

#include "checks/judge.h"
#include "checks/program_runs.h"
#include "runner/null_pointer.h"
#include "threads/cores.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// Where what is built is kept: in the build folder; or in a temporary one, of this user alone, where that can't be
/// written, and for somebody else's answer: each marking has its own (classroom/marking/marking), so that no student
/// gets what another one's answer has built.
fs::path outputs_of(const Question& question) {
  fs::path folder = question.build / "grader" / question.task.name;
  std::error_code error;
  if (!question.apart) fs::create_directories(folder, error);
  if (!question.apart && !error && access(folder.c_str(), W_OK) == 0) return folder;
  const fs::path own = fs::temp_directory_path(error) / fmt::format("odori-{}", geteuid());
  mkdir(own.c_str(), 0700);
  if (!is_own_folder(own))
    throw EnvironmentFault(
        {"no_scratch", {{"folder", own.string()}, {"reason", "it can't be made, or isn't yours alone"}}});
  folder = own / question.task.name;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentFault({"no_scratch", {{"folder", folder.string()}, {"reason", error.message()}}});
  return folder;
}

/// Tells verdicts in the blanks' order, whatever the order in which they become known.
class InOrder {
 public:
  InOrder(const Question& question, const Answers& answers, const std::function<void(const BlankVerdict&)>& tell)
      : question_(question), answers_(answers), tell_(tell) {}

  void know(int blank, const Outcome& outcome) {
    BlankVerdict& verdict = known_[blank];
    const double points = answers_.points_of.at(blank);
    verdict = {blank, outcome.verdict, outcome.finding, outcome.verdict == Verdict::pass ? points : 0, points};
    all_right_ &= outcome.verdict == Verdict::pass;
    for (; known_.contains(next_); ++next_) tell_(known_.at(next_));
  }
  /// All program blanks that nothing is known about yet.
  void know_all(const Outcome& outcome) {
    for (int blank = 1; blank <= question_.task.n_program_blanks(); ++blank)
      if (!known_.contains(blank)) know(blank, outcome);
  }
  bool all_right() const { return all_right_; }

 private:
  const Question& question_;
  const Answers& answers_;
  const std::function<void(const BlankVerdict&)>& tell_;
  std::map<int, BlankVerdict> known_;
  int next_ = 1;
  bool all_right_ = true;
};

/// The programs of an answer, built and run.
class BuiltPrograms : public AnswerPrograms {
 public:
  BuiltPrograms(const Question& question, const Answers& answers, const std::set<int>& filled)
      : in_background_(!question.apart),
        answer_(answers.program),
        runner_(question.task, question.build / "bin" / "solutions" / question.task.program.solution.stem(),
                question.seed, question.sandbox),
        compiler_(question.build, outputs_of(question), question.sandbox),
        programs_(compiler_, answers.around, answer_, filled) {}

  /// Of a class, the other cores have other answers to judge.
  void prepare(const std::vector<std::set<int>>& sets) override {
    if (in_background_) programs_.prepare(sets);
  }
  BlankBuild alone(int blank) override { return programs_.alone(blank); }
  std::set<int> together() override { return programs_.together(); }
  Runs* runs_of(const std::set<int>& blanks) override {
    const fs::path& program = programs_.of(blanks).program;
    return program.empty() ? nullptr : &runs_.emplace_back(runner_, program, cores_);
  }
  std::optional<Finding> find_null_pointer(const std::set<int>& blanks, const RunPlan& plan) override {
    const fs::path program = programs_.with_pointer_checks(blanks);
    if (program.empty()) return {};
    return null_pointer_in(runner_.run(program, plan, false).detail, answer_);
  }
  const fs::path& program_of(const std::set<int>& blanks) { return programs_.of(blanks).program; }

 private:
  bool in_background_;
  const Submission& answer_;
  Runner runner_;
  Compiler compiler_;
  Programs programs_;
  Cores cores_{usable_cores()};
  std::deque<ProgramRuns> runs_;
};

}  // namespace

std::optional<RightAnswer> judge_answer(const Question& question, const Answers& answers, const Exam& exam,
                                        const std::function<void(const BlankVerdict&)>& tell) {
  InOrder verdicts(question, answers, tell);
  std::set<int> filled;
  for (int blank = 1; blank <= question.task.n_program_blanks(); ++blank)
    if (const auto outcome = outcome_of_text(answers, blank))
      verdicts.know(blank, *outcome);
    else
      filled.insert(blank);
  std::optional<RightAnswer> right;
  try {
    if (!filled.empty()) {
      BuiltPrograms programs(question, answers, filled);
      const Judgement judgement = judge(filled, question.task.judged_alone, programs, exam,
                                        [&](int blank, const Outcome& outcome) { verdicts.know(blank, outcome); });
      if (judgement.runs) {
        right = RightAnswer{programs.program_of(judgement.whole), {}};
        if (exam.shows && !question.apart) right->shown = exam.shows(*judgement.runs);
      }
    }
  } catch (const EnvironmentFault& fault) {
    verdicts.know_all({Verdict::environment, fault.finding()});
  }
  if (question.task.script) verdicts.know(question.task.n_blanks(), outcome_of_script(question, answers.script));
  return verdicts.all_right() ? right : std::nullopt;
}

}  // namespace odori::grader
