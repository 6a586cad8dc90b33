// The sequential test: on clear times, and how often it errs on noisy ones.
#include "checks/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "numbers/random.h"

namespace odori::grader {
namespace {

TEST(Median, IsTheMiddleValueInWhateverOrder) {
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({9, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 100, 2}), 3);
}

TEST(MedianOfMeans, IsTheMeanOfValuesThatAgreeAndForgetsOneThatDoesNot) {
  EXPECT_DOUBLE_EQ(hodges_lehmann({7}), 7);
  EXPECT_DOUBLE_EQ(hodges_lehmann({1, 3}), 2);
  EXPECT_NEAR(hodges_lehmann({1, 2, 2, 3, 1000}), 2, 0.5);
  EXPECT_NEAR(hodges_lehmann({0, 0, 0, 1, 1}), 0.25, 0.25) << "where the median says 0";
}

TEST(Evidence, OfNothingIsOneAndAValueAtMostDoublesIt) {
  EXPECT_DOUBLE_EQ(evidence_above({}, 0), 1);
  EXPECT_DOUBLE_EQ(evidence_above({5, 5}, 5), 1);
  EXPECT_GT(evidence_above({1, 1, 1}, 0), 7);
  EXPECT_LT(evidence_above({1e9, 1e9, 1e9}, 0), 8);
  EXPECT_DOUBLE_EQ(evidence_below({-1, -2}, 3), evidence_above({1, 2}, -3));
}

TEST(Evidence, OneLateJobDoesNotOutweighMany) {
  std::vector<double> values(12, 0.3);
  const double without = evidence_above(values, 0);
  values.push_back(-1e9);
  EXPECT_GT(evidence_above(values, 0), without / 20);
}

// Values and their mirror images have evidence of mean 1: that is what makes its products a martingale.
TEST(Evidence, IsOneOnAverageOverAValueAndItsMirrorImage) {
  for (const double value : {0.001, 0.1, 0.3, 0.5, 40.0})
    EXPECT_NEAR((evidence_above({2 + value}, 2) + evidence_above({2 - value}, 2)) / 2, 1, 1e-12) << value;
}

Pace pace_after(int pairs, double share) {
  return pace_of(std::vector<double>(static_cast<std::size_t>(pairs), share));
}

TEST(Pace, IsKnownAsSoonAsTheErrorRatesAllow) {
  EXPECT_EQ(pace_of({}), Pace::unknown);
  EXPECT_EQ(pace_after(9, 1), Pace::unknown) << "2^9 is less than 1000";
  EXPECT_EQ(pace_after(11, 1), Pace::fast_enough);
  EXPECT_EQ(pace_after(13, 0.5), Pace::unknown) << "2^13 is less than 10,000";
  EXPECT_EQ(pace_after(14, 0.5), Pace::too_slow);
  EXPECT_EQ(pace_after(14, 0.01), Pace::too_slow);
}

TEST(Pace, BetweenSlowAndFastIsThatOfTheMedian) {
  EXPECT_EQ(pace_after(20, 0.93), Pace::fast_enough);
  EXPECT_EQ(pace_after(40, 0.86), Pace::too_slow);
}

TEST(Pace, OneLateJobAmongTwentyChangesNothing) {
  for (const double late : {0.01, 100.0}) {
    std::vector<double> right(20, 1.0), slow(20, 0.5);
    right[0] = slow[0] = late;
    EXPECT_EQ(pace_of(right), Pace::fast_enough);
    EXPECT_EQ(pace_of(slow), Pace::too_slow);
  }
}

struct Rates {
  double fast_enough = 0, too_slow = 0;
};

/// How often which answer comes first when it may be given after each of 30 pairs. `noise` makes the i-th pair's.
Rates rates(double share, const std::function<double(RandomSequence&, int)>& noise) {
  constexpr int times = 4000;
  RandomSequence random(1, RandomUse::synthetic_data);
  Rates seen;
  for (int i = 0; i < times; ++i) {
    std::vector<double> shares;
    for (int pair = 0; pair < 30; ++pair) {
      const double sign = random.below(2) == 0 ? 1 : -1;  // who of the two is first
      shares.push_back(share * std::exp(sign * noise(random, pair)));
      const Pace pace = pace_of(shares);
      if (pace == Pace::unknown) continue;
      (pace == Pace::fast_enough ? seen.fast_enough : seen.too_slow) += 1.0 / times;
      break;
    }
  }
  return seen;
}

double uniform(RandomSequence& random, int) { return 0.3 * random.uniform(); }
double heavy_tailed(RandomSequence& random, int) { return 0.05 / (1e-6 + random.uniform()); }
double growing(RandomSequence& random, int pair) { return 0.1 * pair * random.uniform(); }
double in_bursts(RandomSequence&, int pair) { return pair % 10 < 5 ? 0.8 : 0.01; }

TEST(Pace, ErrsAsSeldomAsItSaysWhateverTheNoise) {
  const PaceTest test;
  double false_fails = 0;
  for (const auto& noise : {uniform, heavy_tailed, growing, in_bursts}) {
    EXPECT_LE(rates(test.slow, noise).fast_enough, test.false_pass);
    EXPECT_EQ(rates(0.5, noise).fast_enough, 0);
    false_fails += rates(test.fast, noise).too_slow / 4;
    EXPECT_LE(rates(0.97, noise).too_slow, 10 * test.false_fail);
    EXPECT_EQ(rates(1.05, noise).too_slow, 0);
  }
  EXPECT_LE(false_fails, 3 * test.false_fail) << "4 of 16,000, where at most 1.6 are to be expected";
}

TEST(Pace, IsDecidedOnAMachineOfModerateNoise) {
  EXPECT_GT(rates(1, uniform).fast_enough, 0.99);
  EXPECT_GT(rates(0.75, uniform).too_slow, 0.95);
}

}  // namespace
}  // namespace odori::grader
