// SPDX-License-Identifier: Apache-2.0
// Verdicts from checks on runs that never were. The rounds are judged before the tests run: GoogleTests can't run
// within GoogleTests.
#include "checks/judge.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <stdexcept>

#include "errors/error.h"
#include "fabricated_runs.h"
#include "runner/sandbox.h"

namespace odori::grader {
namespace {

struct Round {
  std::map<int, Outcome> told = {};
  std::vector<Blanks> built = {};
  std::set<Blanks> prepared = {};
  Runs* whole = nullptr;
};

Round judged(FabricatedPrograms programs, const Exam& by = exam, const Blanks& judged_alone = {}) {
  Round round;
  round.whole = judge(programs.filled, judged_alone, programs, by,
                      [&](int blank, const Outcome& outcome) { round.told[blank] = outcome; });
  round.built = programs.built;
  round.prepared = programs.prepared;
  return round;
}

/// Of an answer that fills these blanks.
Round judged_own_device(const Blanks& blanks, int evaluator = 1) {
  std::map<Blanks, OwnDevice> programs;
  const auto of_set = [&](const Blanks& set) { return &programs.try_emplace(set, set, evaluator).first->second; };
  std::map<int, Runs*> variants;
  for (const int blank : blanks) variants[blank] = of_set({blank});
  return judged({of_set(blanks), std::move(variants), {}, of_set}, own_device);
}

bool is_right(Runs& runs, const Exam& by) { return !find_failure(runs, by, 0, 0, by.situations.size()); }

struct Rounds {
  FabricatedRuns right, right_1, right_2, right_3, wrong{Ending::finished, 1}, nine{Ending::finished, 9}, untouched,
      on_three{Ending::finished, 0, 1};
  FabricatedRuns crashed{Ending::crashed}, hung{Ending::hung, 1}, failed{Ending::failed}, named{Ending::failed, 1},
      broken{Ending::environment}, apart = FabricatedRuns::apart(0), apart_and_named = FabricatedRuns::apart(1);
  ChangingRuns changing;
  DividingRuns divides;
  Round all_right = judged({&right, {{1, &untouched}, {2, &untouched}}});
  Round one_wrong = judged({&wrong, {{1, &wrong}, {2, &right_2}}});
  Round one_of_three =
      judged({&wrong, {{1, &wrong}, {2, &right_2}, {3, &right_3}}, {}, [this](const Blanks&) { return &right_1; }});
  Round two_wrong = judged({&wrong, {{1, &wrong}, {2, &nine}}});
  Round on_three_alone = judged({&on_three, {{1, &right_2}, {2, &on_three}}});
  Round another_one_later =
      judged({&wrong, {{1, &wrong}, {2, &on_three}, {3, &right_3}}, {}, [this](const Blanks& set) {
                return set.contains(2) ? &on_three : &right_3;
              }});
  Round own_words_first = judged({nullptr, {{1, &nine}, {2, &nine}}});
  Round no_whole = judged({nullptr, {{1, &right_1}, {2, &right_2}}});
  Round bad_ends = judged({nullptr, {{1, &crashed}, {2, &hung}}});
  Round divided_by_0 = judged({nullptr, {{1, &divides}}});
  Round died_of_calls = judged({nullptr, {{2, &apart}, {1, &apart_and_named}}});
  Round stopped = judged({nullptr, {{1, &failed}, {2, &named}}});
  Round environment = judged({&broken, {{1, &untouched}, {2, &untouched}}});
  Round not_together = judged({&wrong, {{1, &right_1}, {2, &right_2}}, {}, [this](const Blanks&) { return &wrong; }});
  Round once_alone = judged({&wrong, {{1, &right_1}, {2, &right_2}}, {}, [this](const Blanks&) { return &right_3; }});
  Round never_again =
      judged({&wrong, {{1, &right_1}, {2, &right_2}}, {}, [this](const Blanks&) -> Runs* { return &changing; }});
  Round second_of_four =
      judged({&wrong, {{1, &right_1}, {2, &right_1}, {3, &right_1}, {4, &right_1}}, {}, [this](const Blanks& set) {
                return set.contains(3) ? &wrong : &right_1;
              }});
  Round beside_one_wrong_later =
      judged({&wrong, {{1, &on_three}, {2, &right_2}}, {}, [this](const Blanks&) { return &wrong; }});
  Round needs_another = judged({&wrong, {{1, &wrong}, {2, &wrong}, {3, &right_3}}, {{2, {1, 2}}}});
  Round right_beside_a_wrong_one = judged({&wrong, {{1, &wrong}, {2, &right_2}, {3, &right_3}}, {{2, {1, 2}}}});
  Round own_way_beside_a_wrong_one = judged_own_device({1, 2, 3, 4}), own_way = judged_own_device({1, 3, 4}),
        own_way_that_one_leaves = judged_own_device({2, 3, 4}, 0);
  Round grader_fault = judged({nullptr, {{1, &right}}}, {{two}, {{1, "Throws", [](const Situation& situation) {
                                                                    situation.evidence();
                                                                    fail("A check's own trouble.");
                                                                    return std::optional<Finding>();
                                                                  }}}});
  Round compensated = judged({&right, {{1, &wrong}, {2, &untouched}}}, exam, {1, 3}),
        right_alone_too = judged({&right, {{1, &right_1}, {2, &untouched}}}, exam, {1});
  FabricatedRuns asked_alone;
  bool right_is_right = is_right(asked_alone, exam), wrong_in_three_is_right = is_right(on_three, exam),
       broken_is_right = is_right(broken, exam);
  int interrupted_code = 0, told_before = 0;

  Rounds() {
    const auto interrupted = [](const Situation&) -> std::optional<Finding> { throw Error("", 130); };
    FabricatedRuns runs;
    try {
      FabricatedPrograms programs(nullptr, {{1, &runs}});
      judge({1}, {}, programs, {{two}, {{1, "Interrupted", interrupted}}},
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

void expect(const Round& round, int blank, Verdict verdict, const std::string& key = "") {
  ASSERT_TRUE(round.told.contains(blank));
  const Outcome& outcome = round.told.at(blank);
  EXPECT_STREQ(name_of(outcome.verdict), name_of(verdict));
  EXPECT_EQ(outcome.finding ? outcome.finding->key : "", key);
}

TEST(Judge, ARightWholeMakesAllItsBlanksRight) {
  expect(rounds().all_right, 1, Verdict::pass);
  expect(rounds().all_right, 2, Verdict::pass);
  EXPECT_EQ(rounds().right.prepared_before_asked, 2 + 1) << "both test cases, and then the first is judged";
  EXPECT_EQ(rounds().untouched.asked, 0);
}

TEST(Judge, VariantsAreBuiltUntilTheFirstTestCaseHasPassed) {
  EXPECT_EQ(rounds().all_right.prepared, (std::set<Blanks>{}));
  EXPECT_EQ(rounds().one_wrong.prepared, (std::set<Blanks>{{1}, {2}}));
  EXPECT_EQ(rounds().on_three_alone.prepared, (std::set<Blanks>{{1}, {2}})) << "again, since a later one failed";
}

TEST(Judge, ABlankThatAnotherOneCanCompensateForHasToBeRightAloneToo) {
  expect(rounds().compensated, 1, Verdict::wrong, "wrong_device");
  expect(rounds().compensated, 2, Verdict::pass);
  EXPECT_EQ(rounds().compensated.whole, nullptr);
  expect(rounds().right_alone_too, 1, Verdict::pass);
  EXPECT_EQ(rounds().right_alone_too.whole, &rounds().right);
}

TEST(Judge, AProgramIsRightIfItIsSoInAllSituations) {
  EXPECT_TRUE(rounds().right_is_right);
  EXPECT_EQ(rounds().asked_alone.prepared, 2);
  EXPECT_FALSE(rounds().wrong_in_three_is_right);
  EXPECT_FALSE(rounds().broken_is_right);
}

TEST(Judge, AWrongWholeHasEachBlankTriedAlone) {
  expect(rounds().one_wrong, 1, Verdict::wrong, "wrong_device");
  EXPECT_EQ(rounds().one_wrong.told.at(1).finding->values.at("seen"), "1");
  expect(rounds().one_wrong, 2, Verdict::pass);
}

TEST(Judge, AMessageAboutAnotherBlankThatIsWrongTooSaysWhatStoodThere) {
  const auto has_note = [](const Round& round, int blank) {
    return round.told.at(blank).finding->values.contains("note");
  };
  EXPECT_EQ(rounds().two_wrong.told.at(1).finding->values.at("note"), "beside_the_kits");
  EXPECT_FALSE(has_note(rounds().one_wrong, 1));  // the kit's is as right as the learner's
  EXPECT_FALSE(has_note(rounds().another_one_later, 2));
}

TEST(Judge, OthersAreJudgedTogetherWithoutTheWrongOne) {
  expect(rounds().one_of_three, 1, Verdict::wrong, "wrong_device");
  expect(rounds().one_of_three, 2, Verdict::pass);
  expect(rounds().one_of_three, 3, Verdict::pass);
  EXPECT_EQ(rounds().one_of_three.built, (std::vector{Blanks{2, 3}}));
}

TEST(Judge, AMistakeInOneSituationIsFoundThereAndSaysWhere) {
  expect(rounds().on_three_alone, 1, Verdict::pass);
  expect(rounds().on_three_alone, 2, Verdict::wrong, "wrong_device");
  EXPECT_EQ(rounds().on_three_alone.told.at(2).finding->values.at("with_n_gpus"), "3");
  EXPECT_FALSE(rounds().one_wrong.told.at(1).finding->values.contains("with_n_gpus"));  // nothing strange about it
}

TEST(Judge, AMistakeBehindAnotherOneIsFoundAsWell) {
  expect(rounds().another_one_later, 1, Verdict::wrong, "wrong_device");
  expect(rounds().another_one_later, 2, Verdict::wrong, "wrong_device");
  expect(rounds().another_one_later, 3, Verdict::pass);
}

TEST(Judge, AllChecksAreTriedOnABlankAndItsOwnSpeakFirst) {
  expect(rounds().own_words_first, 1, Verdict::wrong, "wrong_device");
  expect(rounds().own_words_first, 2, Verdict::wrong, "nine");
}

TEST(Judge, BlanksThatDisagreeCostTheOneThatDoesNotFollowThoseBeforeIt) {
  expect(rounds().not_together, 1, Verdict::pass);
  expect(rounds().not_together, 2, Verdict::wrong, "wrong_device");
  expect(rounds().second_of_four, 3, Verdict::wrong, "wrong_device");
  for (const int blank : {1, 2, 4}) expect(rounds().second_of_four, blank, Verdict::pass);
  const auto& values = rounds().second_of_four.told.at(3).finding->values;
  EXPECT_EQ(values.at("note") + ' ' + values.at("n_others") + ": " + values.at("others"), "not_beside 2: 1, 2");
  EXPECT_EQ(rounds().second_of_four.built, (std::vector{Blanks{1, 2}, Blanks{1, 2, 3}, Blanks{1, 2, 4}}));
}

TEST(Judge, WhoeverDisagreesWithABlankThatIsWrongElsewhereIsNotBlamed) {
  expect(rounds().beside_one_wrong_later, 1, Verdict::wrong, "wrong_device");
  EXPECT_EQ(rounds().beside_one_wrong_later.told.at(1).finding->values.at("with_n_gpus"), "3");
  expect(rounds().beside_one_wrong_later, 2, Verdict::pass);
}

TEST(Judge, AFailureThatDoesNotComeAgainIsNobodys) {
  for (const int blank : {1, 2}) {
    expect(rounds().once_alone, blank, Verdict::pass);
    expect(rounds().never_again, blank, Verdict::environment, "not_the_same_again");
  }
}

TEST(Judge, ABlankThatUsesNamesOfAWrongOneIsNotJudgedUnlessItIsRight) {
  expect(rounds().needs_another, 1, Verdict::wrong, "wrong_device");
  expect(rounds().needs_another, 2, Verdict::not_checked, "needs_right_blank");
  expect(rounds().needs_another, 3, Verdict::pass);
  expect(rounds().right_beside_a_wrong_one, 2, Verdict::pass);
}

TEST(Judge, BlanksThatAreRightTogetherAreRightThoughEachFailsAloneAndAnotherOneToo) {
  expect(rounds().own_way_beside_a_wrong_one, 1, Verdict::wrong, "nine");
  for (const int blank : {2, 3, 4}) expect(rounds().own_way_beside_a_wrong_one, blank, Verdict::pass);
  EXPECT_EQ(rounds().own_way_beside_a_wrong_one.built, (std::vector{Blanks{2, 3, 4}}));
  // Without blank 2 they are wrong, and no set has to be tried to see it.
  expect(rounds().own_way, 3, Verdict::wrong, "model_elsewhere");
  expect(rounds().own_way, 4, Verdict::wrong, "evaluated_elsewhere");
  EXPECT_TRUE(rounds().own_way.built.empty());
}

TEST(Judge, WhatFailsAloneIsRightIfAnotherBlankIsWhatIsWrongInTheWhole) {
  expect(rounds().own_way_that_one_leaves, 2, Verdict::pass);
  expect(rounds().own_way_that_one_leaves, 3, Verdict::pass);
  expect(rounds().own_way_that_one_leaves, 4, Verdict::wrong, "evaluated_elsewhere");
}

TEST(Judge, WithoutAWholeEachIsJudgedAlone) {
  expect(rounds().no_whole, 1, Verdict::pass);
  expect(rounds().no_whole, 2, Verdict::pass);
}

TEST(Judge, BadEndsHaveVerdictsOfTheirOwn) {
  expect(rounds().bad_ends, 1, Verdict::crash, "crash");
  expect(rounds().bad_ends, 2, Verdict::hang, "wrong_device");
}

TEST(Judge, ACrashOfRanksThatCalledDifferentThingsIsWrong) {
  expect(rounds().died_of_calls, 2, Verdict::wrong, "ranks_called_apart");
  expect(rounds().died_of_calls, 1, Verdict::wrong, "wrong_device");
}

TEST(Judge, WhatTheLibraryRefusedIsWrongWhereACheckKnowsWhy) {
  expect(rounds().stopped, 1, Verdict::crash, "stopped_by_library");
  expect(rounds().stopped, 2, Verdict::wrong, "wrong_device");
}

TEST(Judge, AFaultOfTheMachineIsNobodysAndEndsTheJudging) {
  expect(rounds().environment, 1, Verdict::environment, "detail");
  expect(rounds().environment, 2, Verdict::environment, "detail");
}

TEST(Judge, AFaultOfTheGraderIsNotTheLearners) {
  expect(rounds().grader_fault, 1, Verdict::environment, "grader_failed");
}

TEST(Judge, CtrlCEndsItAndTellsNothingMore) {
  EXPECT_EQ(rounds().interrupted_code, 130);
  EXPECT_EQ(rounds().told_before, 0);
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

TEST(Judge, ADivisionByZeroIsToldAsSuchWhateverElseTheRunShows) {
  expect(rounds().divided_by_0, 1, Verdict::crash, "crash_division");
}

TEST(Load, IsToldWhereTheMachineCouldNotRunTheKitsOwnAnswer) {
  using Values = std::map<std::string, std::string>;
  for (const char* key : {"no_start", "kit_fails", "no_namespaces", "sandbox_too_slow"}) {
    EXPECT_EQ(with_load(Finding{key}, 63.7, 2).values,
              (Values{{"note", "machine_busy"}, {"load", "64"}, {"cores", "2"}}));
    EXPECT_TRUE(with_load(Finding{key}, 3, 2).values.empty());
  }
  EXPECT_TRUE(with_load(Finding{"no_mpirun"}, 63.7, 2).values.empty());
}

}  // namespace
}  // namespace odori::grader

int main(int argc, char** argv) {
  odori::grader::rounds();
  testing::InitGoogleTest(&argc, argv);
  testing::GTEST_FLAG(filter) = "-round*";
  return RUN_ALL_TESTS();
}
