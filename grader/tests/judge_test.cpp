// Verdicts from checks on runs that never were. The rounds are judged before the tests run: GoogleTests can't run
// within GoogleTests.
#include "checks/judge.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/error.h"

namespace odori::grader {
namespace {

const RunPlan two{.devices = 2}, three{.devices = 3};

/// Every run ends like this.
class FabricatedRuns : public Runs {
 public:
  explicit FabricatedRuns(Ending ending = Ending::finished, std::string device = "0", bool calls_apart = false) {
    evidence_.ending = ending;
    evidence_.detail = "detail";
    evidence_.ranks.resize(1);
    evidence_.ranks[0].device = std::stoi(device);
    if (!calls_apart) return;
    evidence_.ranks.resize(2);
    evidence_.ranks[0].collectives = {"update()"};
    evidence_.ranks[1].collectives = {"evaluate()"};
  }
  const Evidence& of(const RunPlan&) override {
    ++asked;
    return evidence_;
  }
  const RunData& data() const override { return data_; }
  void prepare(const std::vector<RunPlan>& plans) override { prepared += static_cast<int>(plans.size()); }
  int asked = 0, prepared = 0;

 private:
  Evidence evidence_;
  RunData data_;
};

/// Device 0 is right.
std::optional<Finding> device_is_zero(Runs& runs) {
  const int device = *runs.of(two).ranks.at(0).device;
  return device == 0 ? std::nullopt : std::optional(Finding{"wrong_device", {{"seen", std::to_string(device)}}});
}

std::vector<Check> device_checks() {
  return {
      {1, "First", device_is_zero, {two}}, {1, "Second", device_is_zero, {three}}, {2, "Third", device_is_zero, {two}}};
}

using Told = std::vector<std::pair<int, Outcome>>;

Told judged(Judged judged, const std::vector<Check>& checks = device_checks()) {
  Told told;
  judge(judged, checks, [&](int blank, const Outcome& outcome) { told.emplace_back(blank, outcome); });
  return told;
}

struct Rounds {
  FabricatedRuns right, right_1, right_2, wrong{Ending::finished, "1"}, untouched, after_wrong;
  FabricatedRuns crashed{Ending::crashed}, hung{Ending::hung, "1"}, failed{Ending::failed}, named{Ending::failed, "1"},
      broken{Ending::environment}, again{Ending::finished}, apart{Ending::crashed, "0", true},
      apart_and_named{Ending::crashed, "1", true};
  Told all_right = judged({&right, {{1, &right_1}, {2, &right_2}}});
  Told one_wrong = judged({&wrong, {{1, &wrong}, {2, &after_wrong}}});
  Told no_whole = judged({nullptr, {{1, &right_1}, {2, &right_2}}});
  Told bad_ends = judged({&crashed, {{1, &crashed}, {2, &hung}}});
  Told died_of_calls = judged({nullptr, {{1, &apart}, {2, &apart_and_named}}});
  Told stopped = judged({&failed, {{1, &failed}, {2, &named}}});
  Told environment = judged({&broken, {{1, &untouched}, {2, &untouched}}});
  Told only_one = judged({nullptr, {{2, &again}}});
  Told not_together = judged({&wrong, {{1, &again}, {2, &again}}});
  Told other_is_why = judged({&wrong, {{1, &again}, {2, &wrong}}});
  Told grader_fault = judged({&right, {{1, &right}}}, {{1, "Throws", [](Runs& runs) -> std::optional<Finding> {
                                                          runs.of(two);
                                                          fail("A check's own trouble.");
                                                        }}});
  int interrupted_code = 0, told_before = 0;

  Rounds() {
    try {
      judge({nullptr, {{1, &right}, {2, &right}}},
            {{1, "Fine", device_is_zero},
             {2, "Interrupted", [](Runs&) -> std::optional<Finding> { throw Error("", 130); }}},
            [this](int, const Outcome&) { ++told_before; });
    } catch (const Error& error) {
      interrupted_code = error.code();
    }
  }
};

const Rounds& rounds() {
  static const Rounds rounds;
  return rounds;
}

void expect(const Told& told, std::size_t i, int blank, Verdict verdict, const std::string& key = "") {
  ASSERT_LT(i, told.size());
  EXPECT_EQ(told[i].first, blank);
  EXPECT_STREQ(name_of(told[i].second.verdict), name_of(verdict));
  EXPECT_EQ(told[i].second.finding ? told[i].second.finding->key : "", key);
}

TEST(Judge, ARightWholeMakesAllItsBlanksRight) {
  expect(rounds().all_right, 0, 1, Verdict::pass);
  expect(rounds().all_right, 1, 2, Verdict::pass);
  EXPECT_EQ(rounds().right.prepared, 3);
}

TEST(Judge, AWrongWholeHasEachBlankJudgedAlone) {
  expect(rounds().one_wrong, 0, 1, Verdict::wrong, "wrong_device");
  EXPECT_EQ(rounds().one_wrong[0].second.finding->values.at("seen"), "1");
  expect(rounds().one_wrong, 1, 2, Verdict::pass);
  EXPECT_EQ(rounds().after_wrong.asked, 1);
  EXPECT_EQ(rounds().after_wrong.prepared, 1);
}

TEST(Judge, BlanksThatAreRightAloneAndNotTogetherCostTheOneForWhichTheWholeFails) {
  expect(rounds().not_together, 0, 2, Verdict::pass);
  expect(rounds().not_together, 1, 1, Verdict::wrong, "wrong_device");
  expect(rounds().other_is_why, 0, 2, Verdict::wrong, "wrong_device");
  expect(rounds().other_is_why, 1, 1, Verdict::pass);
}

TEST(Judge, WithoutAWholeEachIsJudgedAlone) {
  expect(rounds().no_whole, 0, 1, Verdict::pass);
  expect(rounds().no_whole, 1, 2, Verdict::pass);
  EXPECT_EQ(rounds().right_1.asked, 2);
}

TEST(Judge, BadEndsHaveVerdictsOfTheirOwn) {
  expect(rounds().bad_ends, 0, 1, Verdict::crash, "crash");
  expect(rounds().bad_ends, 1, 2, Verdict::hang, "wrong_device");
}

TEST(Judge, ACrashOfRanksThatCalledDifferentThingsIsWrong) {
  expect(rounds().died_of_calls, 0, 1, Verdict::wrong, "ranks_called_apart");
  expect(rounds().died_of_calls, 1, 2, Verdict::wrong, "wrong_device");
}

TEST(Judge, WhatTheLibraryRefusedIsWrongWhereACheckKnowsWhy) {
  expect(rounds().stopped, 0, 1, Verdict::crash, "stopped_by_library");
  expect(rounds().stopped, 1, 2, Verdict::wrong, "wrong_device");
}

TEST(Judge, AFaultOfTheMachineIsNobodysAndEndsTheJudging) {
  expect(rounds().environment, 0, 1, Verdict::environment, "detail");
  expect(rounds().environment, 1, 2, Verdict::environment, "detail");
  EXPECT_EQ(rounds().untouched.asked, 0);
}

TEST(Judge, OnlyBlanksWithAVariantAreJudged) {
  ASSERT_EQ(rounds().only_one.size(), 1u);
  expect(rounds().only_one, 0, 2, Verdict::pass);
}

TEST(Judge, AFaultOfTheGraderIsNotTheLearners) {
  expect(rounds().grader_fault, 0, 1, Verdict::environment, "grader_failed");
}

TEST(Judge, CtrlCEndsItAndTellsNothingMore) {
  EXPECT_EQ(rounds().interrupted_code, 130);
  EXPECT_EQ(rounds().told_before, 1);
}

TEST(ExitCode, IsThatOfTheFirstInTheTable) {
  const auto code = [](std::initializer_list<Verdict> verdicts) {
    std::vector<BlankVerdict> all;
    for (const Verdict verdict : verdicts) all.push_back({.verdict = verdict});
    return exit_code_of(all);
  };
  using enum Verdict;
  EXPECT_EQ(code({pass, inconclusive}), 0);
  EXPECT_EQ(code({pass, not_checked, unfilled}), 10);
  EXPECT_EQ(code({unfilled, wrong}), 11);
  EXPECT_EQ(code({wrong, hang}), 14);
  EXPECT_EQ(code({hang, crash}), 13);
  EXPECT_EQ(code({crash, compile}), 12);
  EXPECT_EQ(code({compile, environment}), 20);
}

}  // namespace
}  // namespace odori::grader

int main(int argc, char** argv) {
  odori::grader::rounds();
  testing::InitGoogleTest(&argc, argv);
  testing::GTEST_FLAG(filter) = "-round*";
  return RUN_ALL_TESTS();
}
