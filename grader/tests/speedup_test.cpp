// The speedup's verdicts, on machines that are made up: steady, drifting, busy, too small.
#include "checks/speedup.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random.h"

namespace odori::grader {
namespace {

/// A machine on which one device trains on 800 images/s, and the programs reach some part of two of them.
class Machine : public TimedWork {
 public:
  double ceiling = 1.95, learner = 1.9, solution = 1.9;  // speedups
  double noise = 0.01, start = 0.2, learners_start = 0.2;
  double slower_each_job = 1;  // a machine that heats up
  double elapsed = 0;
  std::map<Work, int> jobs;
  std::vector<Work> order;

  int devices() const override { return 2; }
  int pictures_per_epoch() const override { return 256; }
  int pictures_of_empty_job() const override { return 64; }
  double seconds(Work work, int epochs) override {
    if (epochs > 0) ++jobs[work], order.push_back(work);
    const double factor = std::map<Work, double>{
        {Work::one, 1}, {Work::ceiling, ceiling}, {Work::learner, learner}, {Work::solution, solution}}[work];
    const int devices = work == Work::one ? 1 : 2;
    const int pictures = epochs == 0 ? 64 : 256 * epochs;
    speed_ /= slower_each_job;
    const double training = devices * pictures / (800 * factor * speed_ * (1 + noise * (2 * random_.uniform() - 1)));
    elapsed += (work == Work::learner ? learners_start : start) + training;
    return (work == Work::learner ? learners_start : start) + training;
  }

 private:
  double speed_ = 1;
  RandomSequence random_{7, RandomUse::synthetic_data};
};

std::string key_of(const SpeedupVerdict& verdict) { return verdict.why ? verdict.why->key : ""; }

TEST(Speedup, TheKitsOwnSolutionPasses) {
  Machine machine;
  const SpeedupVerdict verdict = measure_speedup(machine);
  EXPECT_EQ(verdict.verdict, Verdict::pass);
  EXPECT_FALSE(verdict.why);
  ASSERT_TRUE(verdict.line);
  const auto& values = verdict.line->values;
  EXPECT_NEAR(std::stod(values.at("one")), 800, 16);
  EXPECT_NEAR(std::stod(values.at("many")), 1520, 30);
  EXPECT_NEAR(std::stod(values.at("speedup")), 1.9, 0.05);
  EXPECT_NEAR(std::stod(values.at("efficiency")), 95, 2);
  EXPECT_NEAR(std::stod(values.at("ceiling")), 1.95, 0.05);
  EXPECT_EQ(values.at("rounds"), "6") << "a steady machine needs no more";
  EXPECT_LT(machine.elapsed, 50);
}

TEST(Speedup, TheStartOfAJobIsNotTraining) {
  Machine machine;
  machine.start = machine.learners_start = 3;
  const auto line = measure_speedup(machine, {.seconds_in_all = 1000}).line;
  EXPECT_NEAR(std::stod(line->values.at("one")), 800, 16);
  EXPECT_NEAR(std::stod(line->values.at("speedup")), 1.9, 0.05);
}

TEST(Speedup, ButWhatOnlyTheLearnersProgramDoesThereIs) {
  Machine machine;
  machine.learners_start = 1;
  EXPECT_EQ(measure_speedup(machine).verdict, Verdict::wrong);
}

TEST(Speedup, AProgramThatUsesHalfOfWhatItCouldIsWrong) {
  Machine machine;
  machine.learner = 1.02;
  const SpeedupVerdict verdict = measure_speedup(machine);
  EXPECT_EQ(verdict.verdict, Verdict::wrong);
  ASSERT_EQ(key_of(verdict), "slower_than_the_kit");
  EXPECT_NEAR(std::stod(verdict.why->values.at("share")), 54, 2);
  EXPECT_NEAR(std::stod(verdict.why->values.at("kits")), 1.9, 0.05);
}

TEST(Speedup, IsJudgedAgainstWhatTheKitReachesOnThisMachine) {
  Machine machine;  // communication is slow here: no fixed number would do
  machine.solution = 1.3, machine.learner = 1.25;
  EXPECT_EQ(measure_speedup(machine).verdict, Verdict::pass);
}

TEST(Speedup, NoMachineIsSteadyEnoughToFoolARatio) {
  Machine machine;
  machine.slower_each_job = 1.01;
  EXPECT_EQ(measure_speedup(machine).verdict, Verdict::pass);
}

TEST(Speedup, OnTheEdgeMoreRoundsAreMade) {
  Machine clear, edge;
  clear.noise = edge.noise = 0.03;
  edge.learner = 0.9 * edge.solution;
  measure_speedup(clear), measure_speedup(edge);
  EXPECT_GT(edge.jobs[Work::learner], clear.jobs[Work::learner]);
  EXPECT_LT(edge.elapsed, 52);
}

TEST(Speedup, ABusyMachineIsInconclusiveInTime) {
  Machine machine;
  machine.noise = 0.5;
  const SpeedupVerdict verdict = measure_speedup(machine);
  EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
  EXPECT_EQ(key_of(verdict), "busy");
  EXPECT_TRUE(verdict.line);
  EXPECT_LT(machine.elapsed, 55);
}

TEST(Speedup, AMachineOnWhichNotOneRoundIsMadeInTimeIsInconclusive) {
  Machine machine;
  machine.start = machine.learners_start = 30;
  machine.noise = 0;
  EXPECT_EQ(measure_speedup(machine).verdict, Verdict::inconclusive);
  EXPECT_EQ(key_of(*judge({}, 2, true)), "too_slow");
}

TEST(Speedup, AMachineWhoseDevicesDisturbEachOtherIsInconclusive) {
  Machine machine;
  machine.ceiling = 1.6, machine.learner = machine.solution = 1.5;
  const SpeedupVerdict verdict = measure_speedup(machine);
  EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
  ASSERT_EQ(key_of(verdict), "low_ceiling");
  EXPECT_EQ(verdict.why->values.at("needed"), "1.70");
}

TEST(Speedup, FarAboveTheCeilingIsFlaggedAndEarnsNothing) {
  Machine machine;
  machine.learner = 3.8;
  const SpeedupVerdict verdict = measure_speedup(machine);
  EXPECT_EQ(verdict.verdict, Verdict::inconclusive);
  EXPECT_EQ(key_of(verdict), "too_good");
}

TEST(Speedup, RoundsAreInterleavedAndTheTwoProgramsTakeTurns) {
  Machine machine;
  measure_speedup(machine);
  using enum Work;
  machine.order.erase(machine.order.begin());  // the epoch that tells how many to take
  const std::vector<Work> two_rounds{one, ceiling, learner, solution, one, ceiling, solution, learner};
  ASSERT_GE(machine.order.size(), 8u);
  EXPECT_EQ(std::vector<Work>(machine.order.begin(), machine.order.begin() + 8), two_rounds);
}

TEST(WhyNotMeasured, NamesWhatTheMachineLacks) {
  EXPECT_FALSE(why_not_measured(2, 2, 0, false));
  EXPECT_EQ(why_not_measured(2, 1, 0, false)->key, "too_few_cores");
  EXPECT_EQ(why_not_measured(2, 1, 0, true)->key, "ranks_outnumber_cores");
  EXPECT_EQ(why_not_measured(2, 16, 1, false)->key, "shared_gpu");
  EXPECT_FALSE(why_not_measured(2, 1, 2, true));
}

}  // namespace
}  // namespace odori::grader
