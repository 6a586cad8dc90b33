// The median and its interval, against tables and against chance.
#include "checks/statistics.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/random.h"

namespace odori::grader {
namespace {

std::vector<double> numbers(int n) {  // n, ..., 2, 1
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Median, IsTheMiddleValueInWhateverOrder) {
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({9, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 100, 2}), 3);
}

// Which order statistics bound the median at 95 %: the two-sided sign test's table.
TEST(MedianInterval, TakesTheOrderStatisticsOfTheTable) {
  const std::vector<std::pair<int, int>> table{{6, 1},  {8, 1},  {9, 2},  {11, 2},  {12, 3},  {15, 4},
                                               {17, 5}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}};
  for (const auto& [n, k] : table) {
    const auto interval = median_interval(numbers(n));
    ASSERT_TRUE(interval) << n;
    EXPECT_DOUBLE_EQ(interval->low, k) << n;
    EXPECT_DOUBLE_EQ(interval->high, n + 1 - k) << n;
  }
}

TEST(MedianInterval, FiveValuesAreTooFew) {
  for (int n = 0; n <= 5; ++n) EXPECT_FALSE(median_interval(numbers(n))) << n;
}

TEST(MedianInterval, OneLateRunAmongNineChangesNothing) {
  const auto interval = median_interval({1.9, 1.9, 1.9, 1.9, 0.2, 1.9, 1.9, 1.9, 1.9});
  EXPECT_DOUBLE_EQ(interval->low, 1.9);
  EXPECT_DOUBLE_EQ(interval->spread(1.9), 0);
}

TEST(MedianInterval, HoldsTheTrueMedianAsOftenAsItSays) {
  RandomSequence random(1, RandomUse::synthetic_data);
  constexpr int times = 4000;
  int held = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 12; ++j) {
      const double u = random.uniform();
      values.push_back(u * u * u);  // skewed; its median is 1/8
    }
    const Interval interval = *median_interval(values);
    held += interval.low <= 0.125 && 0.125 <= interval.high;
  }
  EXPECT_NEAR(held / double{times}, 0.9614, 0.012);  // 12 values, k = 3: 1 - 2 * 79 / 4096
}

TEST(Interval, SpreadIsHalfItsWidthInTermsOfTheCentre) { EXPECT_DOUBLE_EQ((Interval{90, 110}).spread(100), 0.1); }

}  // namespace
}  // namespace odori::grader
