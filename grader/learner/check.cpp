// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <random>

#include "checks/answer_flags.h"
#include "checks/check_record.h"
#include "checks/judge_answer.h"
#include "checks/speedup_step.h"
#include "files/file.h"
#include "learner/commands.h"
#include "learner/print.h"
#include "learner/side_by_side.h"
#include "learner/state.h"
#include "learner/waiting_line.h"
#include "report/html.h"

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

/// What may be read by others: texts of bounded length.
CheckRecord record_of(const Question& question, const Answers& answers, std::vector<BlankVerdict> verdicts,
                      const std::optional<SpeedupStep>& step) {
  constexpr std::size_t most_lines = 1000, most_bytes = 500, most_bytes_of_answer = 4000;
  CheckRecord check{.seed = question.seed, .verdicts = std::move(verdicts)};
  for (BlankVerdict& verdict : check.verdicts)
    if (verdict.finding) verdict.finding = bounded(*std::move(verdict.finding));
  if (step) {
    if (step->line) check.speedup = step->line->values;
    if (step->counts) check.counts = step->counts->values;
    check.timeline = step->timeline;
  }
  for (const Submission* submission : {&answers.program, &answers.script}) {
    for (const auto& [number, blank] : submission->blanks)
      if (const BlankVerdict* verdict = check.on(number); verdict && verdict->verdict != Verdict::unfilled)
        check.answers[number] = bounded(fmt::format("{}", fmt::join(blank.text, "\n")), most_bytes_of_answer);
    for (const Change& change : submission->changes)
      if (check.left_out.size() < most_lines)
        check.left_out.push_back(
            {submission->path.filename(), change.line, change.removed, bounded(change.text, most_bytes)});
  }
  return check;
}

/// What can't be written is told now, not after all is judged; and what an older check wrote is no verdict of this one.
void make_way_for(const std::filesystem::path& json) {
  write_file(json, "");
  if (std::filesystem::is_regular_file(json)) std::filesystem::remove(json);
}

int check_and_tell(const Flags& flags, const Messages& messages) {
  if (!flags.json.empty()) make_way_for(flags.json);
  std::optional<Sandbox> sandbox;
  std::vector<std::filesystem::path> hidden = flags.hidden;
  hidden.insert(hidden.end(), {flags.kit, flags.build});
  if (flags.sandbox) sandbox.emplace(hidden);
  const Question question{.task = task_named(flags.task),
                          .kit = flags.kit,
                          .build = flags.build,
                          .program = flags.program,
                          .script = flags.script,
                          .seed = flags.seed ? *flags.seed : fresh_seed(),
                          .out = flags.out,
                          .sandbox = sandbox ? &*sandbox : nullptr,
                          .apart = flags.apart || flags.sandbox};
  Screen screen(question, messages);
  std::vector<BlankVerdict> verdicts;
  const Answers answers = read_answers(question);
  std::optional<WaitingLine> waiting;
  const auto tell = [&](const BlankVerdict& verdict) {
    verdicts.push_back(verdict);
    const auto print = [&] { screen.verdict(verdict); };
    waiting ? waiting->print_above(print) : print();
  };
  screen.left_out(answers.program);
  screen.left_out(answers.script);
  waiting.emplace(messages.text("checking"), messages.text("checking_long"));
  const auto right = judge_answer(question, answers, exam_of(question.task), tell);
  waiting.reset();
  std::optional<SpeedupStep> step;
  if (question.task.measures_speedup && right && flags.speedup) {
    screen.measuring();
    step = take_speedup(question, right->whole, answers.points_of.at(0), messages.language());
    tell(step->verdict);
    screen.speedup(*step);
  } else if (question.task.measures_speedup) {
    const Finding why{right ? "speedup_not_asked" : "speedup_waits"};
    tell({.blank = 0, .verdict = Verdict::not_checked, .finding = why, .of = answers.points_of.at(0)});
  }
  const auto show = [&](const std::optional<ShownFigure>& shown, const char* page) {
    if (!shown) return;
    const Figure figure = in_words(*shown, messages);
    screen.figure(figure, write_page(flags.out / page, to_page(figure, messages.language(), read_chart_js())));
  };
  if (right) show(right->shown, "figure.html"), show(right->simulated, "simulated.html");
  if (right && !question.apart)
    if (const auto page = side_by_side_page(question, answers, messages))
      screen.side_by_side(write_page(flags.out / "side_by_side.html", *page));
  screen.summary(verdicts);
  const bool own = flags.program == flags.kit / question.task.program.exercise;
  if (own) remember(flags, answers, verdicts);
  if (!flags.json.empty()) {
    std::vector<Finding> for_instructors = flags_for(answers.identifiers, verdicts);
    for (const Submission* submission : {&answers.program, &answers.script})
      if (auto flag = flag_for(submission->changes, language_of(submission->path.string())))
        for_instructors.push_back(*std::move(flag));
    for (Finding& flag : for_instructors) flag = bounded(std::move(flag));
    const CheckRecord record = record_of(question, answers, verdicts, step);
    write_file(flags.json, as_json(question, record, for_instructors, messages));
  }
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
template <typename Work>
int or_fault(const Flags& flags, Work work) {
  const Messages messages(flags.kit, language());
  try {
    return work(messages);
  } catch (const EnvironmentFault& fault) {
    fmt::print("{}\n", messages.text(fault.finding()));
    return fault.code();
  }
}

}  // namespace

int check(const Flags& flags) {
  return or_fault(flags, [&](const Messages& messages) { return check_and_tell(flags, messages); });
}

int ready(const Flags& flags) {
  return or_fault(flags, [&](const Messages& messages) { return tell_whether_ready(flags, messages); });
}

}  // namespace odori::grader
