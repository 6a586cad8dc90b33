// SPDX-License-Identifier: Apache-2.0
// The speedup's verdicts, on machines that are made up: steady, drifting, busy, too small; and their statistics.
#include "checks/speedup.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <stdexcept>

#include "bench/simulated_machine.h"

namespace odori::grader {
namespace {

constexpr std::uint64_t coin = 5;

TEST(Median, IsTheMiddleValueInWhateverOrder) {
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({9, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 100, 2}), 3);
}

/// Of the values 1, 2, ... n.
auto interval_of(int n, double error) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return interval_of_median(values, error);
}

// The numbers are those of tables of the sign test: P(Bin(12, 1/2) <= 0) is 1 / 4096, P(Bin(18, 1/2) <= 1) 7.2e-5 and
// P(Bin(24, 1/2) <= 3) 1.4e-4, while one more is above 1 / 4000.
TEST(IntervalOfMedian, LeavesOutAsManyAtEachEndAsTheErrorAllows) {
  EXPECT_FALSE(interval_of_median({}, 0.1));
  EXPECT_FALSE(interval_of(11, 1.0 / 4000)) << "2^11 is less than 4000";
  for (const auto& [n, left_out] : {std::pair{12, 0}, {16, 0}, {18, 1}, {24, 3}, {30, 5}}) {
    const auto interval = interval_of(n, 1.0 / 4000);
    ASSERT_TRUE(interval) << n;
    EXPECT_EQ(interval->first, left_out + 1) << n;
    EXPECT_EQ(interval->second, n - left_out) << n;
  }
}

TEST(IntervalOfMedian, IsHardlyMovedByOneLateJob) {
  std::vector<double> values(24, 1.0);
  values[5] = 1e9, values[6] = 1e-9;
  const auto interval = interval_of_median(values, 1.0 / 4000);
  EXPECT_EQ(interval->first, 1);
  EXPECT_EQ(interval->second, 1);
}

TEST(IntervalOfMedian, MissesTheMedianAsSeldomAsItSays) {
  RandomSequence random(1, RandomUse::synthetic_data);
  constexpr int times = 20'000;
  constexpr double error = 0.01;
  int below = 0, above = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 20; ++k) values.push_back(1 / (1e-6 + random.uniform()) - 2);  // median 0, no mean
    const auto interval = interval_of_median(values, error);
    below += interval->second<0, above += interval->first> 0;
  }
  EXPECT_LE(below, times * error * 1.2);
  EXPECT_LE(above, times * error * 1.2);
}

std::string key_of(const SpeedupVerdict& verdict) { return verdict.why ? verdict.why->key : ""; }

TEST(Speedup, TheKitsOwnSolutionPasses) {
  SimulatedMachine machine;
  const SpeedupVerdict verdict = measure_speedup(machine, coin);
  EXPECT_EQ(verdict.verdict, Verdict::pass);
  EXPECT_FALSE(verdict.why);
  ASSERT_TRUE(verdict.line);
  const auto& values = verdict.line->values;
  const double one = machine.images() / machine.one_seconds;
  EXPECT_NEAR(std::stod(values.at("one")), one, 0.07 * one);
  EXPECT_NEAR(std::stod(values.at("many")), machine.solution * one, 0.14 * one);
  EXPECT_NEAR(std::stod(values.at("speedup")), machine.solution, 0.15);
  EXPECT_NEAR(std::stod(values.at("efficiency")), 50 * machine.solution, 8);
  EXPECT_NEAR(std::stod(values.at("ceiling")), machine.ceiling, 0.15);
  EXPECT_EQ(values.at("rounds"), "12") << "a steady machine needs no more";
  EXPECT_LT(machine.elapsed, 35);
}

TEST(Speedup, TheStartOfAJobIsNotTraining) {
  SimulatedMachine machine;
  machine.mpirun = 3, machine.noise.spread = 0.001;
  const auto line = measure_speedup(machine, coin, 1000).line;
  EXPECT_NEAR(std::stod(line->values.at("one")), machine.images() / machine.one_seconds, 500);
  EXPECT_NEAR(std::stod(line->values.at("speedup")), machine.solution, 0.05);
}

TEST(Speedup, ButWhatOnlyTheLearnersProgramDoesThereIs) {
  SimulatedMachine machine;
  machine.answer.start = 0.5;
  EXPECT_EQ(measure_speedup(machine, coin).verdict, Verdict::wrong);
}

TEST(Speedup, AProgramThatUsesHalfOfWhatItCouldIsWrong) {
  SimulatedMachine machine;
  machine.answer = {.share = 0.54, .parallel = false};
  const SpeedupVerdict verdict = measure_speedup(machine, coin);
  EXPECT_EQ(verdict.verdict, Verdict::wrong);
  ASSERT_EQ(key_of(verdict), "slower_than_the_kit");
  EXPECT_NEAR(std::stod(verdict.why->values.at("share")), 54, 4);
  EXPECT_NEAR(std::stod(verdict.why->values.at("kits")), machine.solution, 0.15);
  EXPECT_LT(machine.elapsed, 56);
}

TEST(Speedup, AProgramThatTakesForeverIsStoppedAndWrongInTime) {
  SimulatedMachine machine;
  machine.answer.share = 0.05;
  const SpeedupVerdict verdict = measure_speedup(machine, coin);
  EXPECT_EQ(verdict.verdict, Verdict::wrong);
  EXPECT_LT(machine.elapsed, 56);
  ASSERT_EQ(key_of(verdict), "slower_than_the_kit");
  EXPECT_NEAR(std::stod(verdict.why->values.at("share")), 5, 1) << "as its first job, which isn't stopped, had it";
}

TEST(Speedup, AProgramThatDoesNotEndIsToldSo) {
  struct Hanging : SimulatedMachine {
    double seconds(Work work, double at_most) override {
      if (work != Work::learner) return SimulatedMachine::seconds(work, at_most);
      if (at_most == 0) throw std::runtime_error("it doesn't end");
      return at_most;
    }
  };
  Hanging machine;
  EXPECT_THROW(measure_speedup(machine, coin), std::runtime_error);
}

TEST(Speedup, IsJudgedAgainstWhatTheKitReachesOnThisMachine) {
  SimulatedMachine machine;  // communication is slow here: no fixed number would do
  machine.solution = 1.35, machine.answer.share = 0.96;
  EXPECT_EQ(measure_speedup(machine, coin).verdict, Verdict::pass);
}

TEST(Speedup, AMachineThatGetsSlowerFoolsNoRatio) {
  SimulatedMachine machine;
  machine.noise.drift = 0.01;
  EXPECT_EQ(measure_speedup(machine, coin).verdict, Verdict::pass);
}

TEST(Speedup, OnTheEdgeMorePairsAreMade) {
  SimulatedMachine clear, edge;
  edge.answer.share = 0.93, edge.noise.spread = 0.15;
  measure_speedup(clear, coin), measure_speedup(edge, coin);
  EXPECT_GT(edge.order.size(), clear.order.size());
  EXPECT_LT(edge.elapsed, 61);
}

TEST(Speedup, ABusyMachineIsInconclusiveInTime) {
  SimulatedMachine machine;
  machine.noise.spread = 0.5;
  const SpeedupVerdict verdict = measure_speedup(machine, coin);
  EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
  EXPECT_EQ(key_of(verdict), "busy");
  EXPECT_TRUE(verdict.line);
  EXPECT_LT(machine.elapsed, 65);
}

TEST(Speedup, AMachineThatTakesTooLongForEnoughPairsIsInconclusive) {
  SimulatedMachine machine;
  machine.job_start = 30, machine.noise.spread = 0;
  EXPECT_EQ(key_of(measure_speedup(machine, coin)), "busy");
}

TEST(Speedup, AMachineWhoseDevicesDisturbEachOtherIsInconclusive) {
  SimulatedMachine machine;
  machine.ceiling = 1.15, machine.solution = 1.1;
  for (const double share : {1.0, 0.7}) {
    machine.answer.share = share;
    const SpeedupVerdict verdict = measure_speedup(machine, coin);
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    ASSERT_EQ(key_of(verdict), "low_ceiling");
    EXPECT_EQ(verdict.why->values.at("needed_ceiling"), "1.30");
  }
}

TEST(Speedup, WhereTheKitGainsNothingNeitherAnswerIsTold) {
  SimulatedMachine machine;
  machine.ceiling = 1.6, machine.solution = 1.03;
  for (const double share : {1.0, 0.6}) {
    machine.answer.share = share;
    const SpeedupVerdict verdict = measure_speedup(machine, coin);
    EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
    EXPECT_EQ(key_of(verdict), "no_gain");
  }
}

TEST(Speedup, FarAboveTheCeilingIsFlaggedAndEarnsNothing) {
  SimulatedMachine machine;
  machine.answer.share = 2;
  const SpeedupVerdict verdict = measure_speedup(machine, coin);
  EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
  EXPECT_EQ(key_of(verdict), "too_good");
}

// What was measured at different moments says nothing of each other.
TEST(Speedup, NumbersAreThoseOfNeighbours) {
  constexpr std::size_t pairs = 18;
  Measured measured{.images = 256, .first = 1};
  const auto slowdown = [](std::size_t pair) { return pair < Measured::pairs_of_block ? 1.0 : 2.0; };
  for (const Work work : {Work::one, Work::ceiling, Work::solution}) measured.starts[work] = {0};
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    if (pair % Measured::pairs_of_block == 0) {
      measured.jobs[Work::one].push_back(slowdown(pair));
      measured.jobs[Work::ceiling].push_back(slowdown(pair) / 0.95);
    }
    for (const Work work : {Work::learner, Work::solution}) measured.jobs[work].push_back(slowdown(pair) / 0.9);
  }
  const auto verdict = judge(measured, true);
  ASSERT_TRUE(verdict && verdict->line);
  EXPECT_EQ(verdict->line->values.at("kits"), "1.80");
  EXPECT_EQ(verdict->line->values.at("speedup"), "1.80");
  EXPECT_EQ(verdict->line->values.at("ceiling"), "1.90");
}

// On a machine under load the solution waits for each of its devices, and a program that uses them in turn doesn't.
TEST(Speedup, WhereTheSolutionDoesNotAlwaysGainNothingIsDecided) {
  Measured measured{.images = 256, .first = 1};
  for (const Work work : {Work::one, Work::ceiling, Work::solution}) measured.starts[work] = {0};
  for (std::size_t pair = 0; pair < 24; ++pair) {
    const double one = pair / Measured::pairs_of_block % 4 == 0 ? 0.9 : 1.5;
    if (pair % Measured::pairs_of_block == 0) {
      measured.jobs[Work::one].push_back(one);
      measured.jobs[Work::ceiling].push_back(one / 0.85);
    }
    measured.jobs[Work::solution].push_back(2), measured.jobs[Work::learner].push_back(1.7);
  }
  EXPECT_FALSE(judge(measured, false));
  EXPECT_EQ(key_of(*judge(measured, true)), "busy");
}

TEST(Speedup, IsLookedAtAfterFewNumbersOfPairsAlone) {
  Measured measured{.images = 256, .first = 1};
  for (const Work work : {Work::one, Work::ceiling, Work::solution}) measured.starts[work] = {0};
  std::set<std::size_t> looks;
  for (std::size_t pair = 0; pair < 40; ++pair) {
    for (const Work work : {Work::one, Work::ceiling}) measured.jobs[work].push_back(1);
    for (const Work work : {Work::learner, Work::solution}) measured.jobs[work].push_back(1.05);
    if (judge(measured, false)) looks.insert(pair + 1);
    EXPECT_TRUE(judge(measured, true));
  }
  EXPECT_EQ(looks, (std::set<std::size_t>{12, 18, 24})) << "each look is another chance of an error";
}

TEST(Speedup, TheCeilingIsAboveWhateverTheNoise) {
  int above = 0;
  for (const SimulatedMachine::Noise& noise :
       {SimulatedMachine::Noise{.spread = 0.1}, {.busy_seconds = 0.2, .quiet_seconds = 0.2}, {.busy_seconds = 1}})
    for (std::uint64_t number = 0; number < 100; ++number) {
      SimulatedMachine machine(number);
      machine.noise = noise;
      const auto line = measure_speedup(machine, number).line;
      const auto shown = [&](const char* key) { return std::stod(line->values.at(key)); };
      EXPECT_LE(shown("kits"), shown("ceiling")) << number;
      EXPECT_LE(shown("ceiling"), 2) << number;
      above += shown("speedup") > 1.05 * shown("ceiling");
    }
  EXPECT_LT(above, 300 / 8) << "a program and the kit's solution are the same here, but for the noise";
}

TEST(Speedup, WhereNothingSeemsToBeGainedMoreIsMeasuredWhileThereIsTime) {
  SimulatedMachine machine;
  machine.ceiling = 1.15, machine.solution = 1.1;
  EXPECT_EQ(key_of(measure_speedup(machine, coin)), "low_ceiling");
  EXPECT_GT(machine.elapsed, 50);
}

TEST(Speedup, PairsStandTogetherAndACoinSaysWhoIsFirst) {
  using enum Work;
  int first = 0, pairs = 0;
  for (std::uint64_t toss = 0; toss < 10; ++toss) {
    SimulatedMachine machine;
    measure_speedup(machine, toss);
    std::vector<Work> order = machine.order;
    order.erase(order.begin());  // the learner's first job, which runs to its end
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      const std::set<Work> two{order[i], order[i + 1]};
      if (i % 8 == 0) {
        ASSERT_EQ(two, (std::set{one, ceiling})) << i;
        continue;
      }
      ASSERT_EQ(two, (std::set{learner, solution})) << i;
      first += order[i] == learner, ++pairs;
    }
  }
  EXPECT_NEAR(first, pairs / 2.0, pairs / 5.0);
}

// The benchmark's promise on a small scale: grader/bench/speedup_decisions.cpp has it at full length.
struct Tally {
  int pass = 0, wrong = 0;
};
Tally hundreds(const SimulatedMachine::Noise& noise, const SimulatedAnswer& answer) {
  Tally tally;
  for (std::uint64_t number = 0; number < 400; ++number) {
    SimulatedMachine machine(number);
    machine.noise = noise, machine.answer = answer;
    const Verdict verdict = measure_speedup(machine, number).verdict;
    tally.pass += verdict == Verdict::pass, tally.wrong += verdict == Verdict::wrong;
    EXPECT_LT(machine.elapsed, answer.share < 0.1 ? 85 : 65) << "a job of such an answer takes ten seconds and more";
  }
  return tally;
}

TEST(Decisions, OnAQuietMachineRightAnswersPassAndSlowOnesAreWrong) {
  for (const double share : {1.0, 0.97}) {
    const Tally right = hundreds({}, {share});
    EXPECT_GE(right.pass, 380) << share;
    EXPECT_EQ(right.wrong, 0) << share;
  }
  for (const SimulatedAnswer& answer : {SimulatedAnswer{0.75}, {1 / 1.9, false}, {0.25}, {0.05}}) {
    const Tally slow = hundreds({}, answer);
    EXPECT_EQ(slow.pass, 0) << answer.share;
    EXPECT_GE(slow.wrong, 380) << answer.share;
  }
}

TEST(Decisions, WithACoreBusyHalfOfTheTimeNothingIsMistaken) {
  for (const double seconds : {0.2, 1.0, 5.0, 20.0}) {
    const SimulatedMachine::Noise noise{.busy_seconds = seconds, .quiet_seconds = seconds};
    EXPECT_EQ(hundreds(noise, {1}).wrong, 0) << seconds;
    EXPECT_EQ(hundreds(noise, {0.75}).pass, 0) << seconds;
    EXPECT_EQ(hundreds(noise, {1 / 1.9, false}).pass, 0) << seconds;
  }
}

TEST(Decisions, SlowAnswersAreWrongThereToo) {
  for (const double seconds : {0.2, 1.0, 5.0}) {
    const SimulatedMachine::Noise noise{.busy_seconds = seconds, .quiet_seconds = seconds};
    for (const SimulatedAnswer& answer : {SimulatedAnswer{0.68}, {1 / 1.9, false}, {0.25}, {0.05}})
      EXPECT_GE(hundreds(noise, answer).wrong, 370) << answer.share << ", " << seconds << " s";
  }
}

}  // namespace
}  // namespace odori::grader
