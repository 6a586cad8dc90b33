#include "learner/check.h"

#include <fmt/core.h>

#include <random>

#include "checks/judge_answer.h"
#include "checks/speedup_step.h"
#include "core/file.h"
#include "learner/print.h"
#include "learner/state.h"
#include "report/page.h"

namespace odori::grader {
namespace {

std::uint64_t fresh_seed() { return std::random_device()() % 1'000'000; }

/// For ./odori status, hint and solution. What can't be remembered is no reason to hold back a verdict.
void remember(const Flags& flags, const Answers& answers, const std::vector<BlankVerdict>& verdicts) try {
  State state(state_file(flags.kit));
  for (const BlankVerdict& verdict : verdicts) {
    const Submission& file = answers.program.blanks.contains(verdict.blank) ? answers.program : answers.script;
    const auto blank = file.blanks.find(verdict.blank);
    state.remember(flags.task, verdict, blank == file.blanks.end() ? std::vector<std::string>{} : blank->second.text);
  }
  state.save();
} catch (const Error& error) {
  fmt::print(stderr, "{}\n", error.what());
}

int check_and_tell(const Flags& flags, const Messages& messages) {
  std::optional<Sandbox> sandbox;
  std::vector<std::filesystem::path> hidden = flags.hidden;
  hidden.insert(hidden.end(), {flags.kit, flags.build});
  if (flags.sandbox) sandbox.emplace(flags.without, hidden);
  const Question question{.task = task_named(flags.task),
                          .kit = flags.kit,
                          .build = flags.build,
                          .program = flags.program,
                          .script = flags.script,
                          .seed = flags.seed ? *flags.seed : fresh_seed(),
                          .out = flags.out,
                          .sandbox = sandbox ? &*sandbox : nullptr,
                          .without = flags.without,
                          .apart = flags.apart || flags.sandbox};
  Screen screen(question, messages);
  Feed feed(question, messages);
  CheckAudience& audience = flags.feed ? static_cast<CheckAudience&>(feed) : screen;
  std::vector<BlankVerdict> verdicts;
  const Answers answers = read_answers(question);
  const auto tell = [&](const BlankVerdict& verdict) {
    verdicts.push_back(verdict);
    audience.verdict(verdict);
  };
  audience.left_out(answers.program);
  audience.left_out(answers.script);
  const auto right = judge_answer(question, answers, tell);
  std::optional<SpeedupStep> step;
  if (question.task.measures_speedup && right && flags.speedup) {
    audience.measuring();
    step = take_speedup(question, right->whole, answers.points_of.at(0), messages.language());
    tell(step->verdict);
    audience.speedup(*step);
  } else if (question.task.measures_speedup) {
    const Finding why{right ? "speedup_not_asked" : "speedup_waits"};
    tell({.blank = 0, .verdict = Verdict::not_checked, .finding = why, .of = answers.points_of.at(0)});
  }
  if (right && right->shown) {
    const Figure figure = in_words(*right->shown, messages);
    audience.figure(figure,
                    write_page(flags.out / "figure.html", to_page(figure, messages.language(), read_chart_js())));
  }
  audience.summary(verdicts);
  const bool own = flags.program == flags.kit / question.task.program.exercise;
  if (own) remember(flags, answers, verdicts);
  if (!flags.json.empty()) write_file(flags.json, as_json(question, answers, verdicts, step, messages));
  return exit_code_of(verdicts);
}

int tell_whether_ready(const Flags& flags, const Messages& messages) {
  const Question question{.task = task_named(flags.task),
                          .kit = flags.kit,
                          .build = flags.build,
                          .program = flags.program,
                          .script = flags.script};
  const auto verdicts = verdicts_of_files(question, read_answers(question));
  if (verdicts.empty()) return 0;
  Screen screen(question, messages);
  for (const BlankVerdict& verdict : verdicts) screen.verdict(verdict);
  fmt::print("\n{}\n", messages.text("not_ready", {{"task", flags.task}}));
  return exit_code_of(verdicts);
}

/// What it returns; or the exit code of what this machine lacks, which is then said.
int or_fault(int (*work)(const Flags&, const Messages&), const Flags& flags) {
  const Messages messages(flags.kit, language_or_default(flags.language));
  try {
    return work(flags, messages);
  } catch (const EnvironmentFault& fault) {
    fmt::print("{}\n", messages.text(fault.finding()));
    return fault.code();
  }
}

}  // namespace

int check(const Flags& flags) { return or_fault(check_and_tell, flags); }

int ready(const Flags& flags) { return or_fault(tell_whether_ready, flags); }

}  // namespace odori::grader
