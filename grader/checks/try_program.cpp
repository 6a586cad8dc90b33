// SPDX-License-Identifier: Apache-2.0
#include "checks/try_program.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>

#include "checks/findings.h"
#include "errors/error.h"
#include "errors/text.h"
#include "program/program.h"
#include "runner/sandbox.h"

namespace odori::grader {
namespace {

/// Remembers how the runs ended that a check looks at.
class WatchedRuns : public Runs {
 public:
  explicit WatchedRuns(Runs& runs) : runs_(runs) {}
  const Evidence& of(const RunPlan& plan) override {
    const Evidence& evidence = runs_.of(plan);
    if (evidence.ending != Ending::finished && !bad_) bad_ = &evidence;
    return evidence;
  }
  const RunData& data() const override { return runs_.data(); }
  /// The first one that didn't come to its end; none if all did.
  const Evidence* bad() const { return bad_; }

 private:
  Runs& runs_;
  const Evidence* bad_ = nullptr;
};

/// The message for a crash, by its signal or by what was thrown.
Finding crash_of(const std::string& detail) {
  if (detail == strsignal(SIGSEGV)) return {"crash_pointer", {{"detail", detail}}};
  if (!detail.starts_with(out_of_range_begins)) return {"crash", {{"detail", detail}}};
  std::string found = detail.substr(out_of_range_begins.size());
  // The library's inner names: "vector::_M_range_check: __n (which is 3) >= this->size() (which is 3)".
  for (const char* inner : {"::_M_range_check", "__", "this->"}) found = replaced(found, inner, "");
  return {"crash_out_of_range", {{"detail", found}}};
}

/// What a run that ended badly says when no check has a better word for it.
Outcome outcome_of(const Evidence& bad, std::optional<Finding> finding) {
  if (bad.broke && bad.ending != Ending::environment) return {Verdict::crash, bad.broke};
  const auto or_else = [&](const char* key) { return finding ? *finding : Finding{key, {{"detail", bad.detail}}}; };
  switch (bad.ending) {
    case Ending::environment:
      return {Verdict::environment, with_load({bad.detail})};
    case Ending::hung: {
      Finding hang = find_hang(bad);
      if (!finding) return {Verdict::hang, std::move(hang)};
      finding->values.merge(hang.values);  // the screen tells who waited for whom as well
      return {Verdict::hang, std::move(finding)};
    }
    case Ending::crashed:
      if (bad.detail == strsignal(SIGFPE)) return {Verdict::crash, Finding{"crash_division", {{"detail", bad.detail}}}};
      // What MPI does with different calls is up to MPI: the call was wrong, however it ended.
      if (const auto apart = find_calls_apart(bad)) return {Verdict::wrong, finding ? finding : apart};
      return {Verdict::crash, finding ? *finding : crash_of(bad.detail)};
    case Ending::failed:
      if (finding) return {Verdict::wrong, finding};
      return {Verdict::crash, or_else("stopped_by_library")};
    default:
      return {Verdict::wrong, or_else("unfilled_inside")};
  }
}

/// "network mid, images 50000" of {"network":"mid","images":50000}; the beginning, of many.
std::string in_words(const std::string& json) {
  std::string words = replaced(replaced(json, ",", ", "), ":", " ");
  std::erase_if(words, [](char c) { return std::string_view("{}[]\"").find(c) != std::string_view::npos; });
  return bounded(std::move(words), 200);
}

/// The situation, for the message's last sentence.
void add_situation(Finding& finding, const RunPlan& plan) {
  const bool ranks = !plan.nodes.empty();
  if (plan.trainings > 1) finding.values.try_emplace("note", "trained_before");
  finding.values["with_trainings"] = std::to_string(plan.trainings);
  finding.values["situation"] = plan.epochs > 0 ? (ranks ? "situation_ranks" : "situation_process")
                                : ranks         ? "situation_without_training"
                                                : "situation_flags";
  finding.values["with_n_gpus"] = std::to_string(plan.devices);
  finding.values["with_ranks"] = std::to_string(plan.ranks());
  finding.values["with_nodes"] = list(plan.nodes);
  finding.values["with_batchsize"] = std::to_string(plan.batch_size);
  finding.values["with_learnrate"] = fmt::format("{}", plan.learning_rate);
  finding.values.try_emplace("with_flags", plan.test_cases.empty() ? fmt::format("{}", fmt::join(plan.flags, " "))
                                                                   : in_words(plan.test_cases));
  std::string& further = finding.values["with_switch"] = plan.sum ? " --compat chainer" : "";
  if (plan.scaled) further += " --scale-learnrate --warmup-epochs 1";
  if (plan.accumulate > 1) further += fmt::format(" --accumulate {}", plan.accumulate);
}

/// A GoogleTest: its name, and what it does.
struct NamedTest {
  std::string name;
  std::function<void()> body;
};

class CheckTest : public testing::Test {
 public:
  explicit CheckTest(const NamedTest& test) : test_(test) {}
  void TestBody() override { test_.body(); }

 private:
  const NamedTest& test_;
};

/// Runs these as a suite of their own, and prints nothing.
void run_as_tests(const std::vector<NamedTest>& tests) {
  static int n_suites = 0;
  if (n_suites == 0) testing::InitGoogleTest();
  const std::string suite = fmt::format("round{}", ++n_suites);
  for (const NamedTest& test : tests)
    testing::RegisterTest(suite.c_str(), test.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&test] { return new CheckTest(test); });
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  static testing::TestEventListener* const printer = listeners.default_result_printer();
  listeners.Release(printer);
  testing::GTEST_FLAG(filter) = suite + ".*";
  testing::GTEST_FLAG(shuffle) = false;
  testing::GTEST_FLAG(repeat) = 1;
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // the outcomes say it in more words
  listeners.Append(printer);
}

}  // namespace

Failure try_check(const Check& check, Runs& runs, const RunPlan& plan) {
  WatchedRuns watched(runs);
  std::optional<Finding> finding;
  try {
    finding = check.find({watched, plan});
  } catch (const EnvironmentFault& fault) {
    return {.check = &check, .outcome = {Verdict::environment, fault.finding()}};
  } catch (const Error& error) {
    if (error.code() == exit_code::interrupted) throw;
    if (!watched.bad())
      return {.check = &check, .outcome = {Verdict::environment, Finding{"grader_failed", {{"reason", error.what()}}}}};
  }
  const Evidence* const bad = watched.bad();
  const bool settled = finding || (bad && (bad->broke || bad->ending == Ending::environment));
  const Verdict verdict = finding ? Verdict::wrong : Verdict::pass;
  return {.check = &check, .outcome = bad ? outcome_of(*bad, finding) : Outcome{verdict, finding}, .settled = settled};
}

std::optional<Failure> find_failure(Runs& runs, const Exam& exam, int blank, std::size_t first, std::size_t last) {
  std::vector<const Check*> checks;
  for (const Check& check : exam.checks) checks.push_back(&check);
  const auto turn = [blank](const Check* check) { return check->blank == blank ? 0 : check->blank == 0 ? 1 : 2; };
  if (blank != 0) std::stable_sort(checks.begin(), checks.end(), [&](auto a, auto b) { return turn(a) < turn(b); });
  runs.prepare({exam.situations.begin() + static_cast<std::ptrdiff_t>(first),
                exam.situations.begin() + static_cast<std::ptrdiff_t>(last)});
  std::optional<Failure> failure;
  std::exception_ptr interruption;
  const auto try_one = [&](const Check& check, std::size_t situation) {
    Failure tried = try_check(check, runs, exam.situations[situation]);
    if (tried.outcome.verdict == Verdict::pass || (failure && !tried.settled)) return;
    if (situation > 0 && tried.outcome.verdict != Verdict::environment)
      add_situation(*tried.outcome.finding, exam.situations[situation]);
    tried.situation = situation;
    failure = std::move(tried);
    ADD_FAILURE() << name_of(failure->outcome.verdict) << ' ' << failure->outcome.finding->key;
  };
  std::vector<NamedTest> tests;
  for (std::size_t situation = first; situation < last; ++situation)
    for (const Check* check : checks)
      tests.push_back({fmt::format("{}_{}", check->name, situation), [&, situation, check] {
                         // Of a run that ended badly, another check may have a better word.
                         if (interruption || (failure && (failure->settled || failure->situation != situation))) return;
                         try {
                           try_one(*check, situation);
                         } catch (...) {
                           interruption = std::current_exception();
                         }
                       }});
  run_as_tests(tests);
  if (interruption) std::rethrow_exception(interruption);
  return failure;
}

}  // namespace odori::grader
