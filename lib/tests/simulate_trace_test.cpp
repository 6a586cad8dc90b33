// SPDX-License-Identifier: Apache-2.0
// The event stream of simulated ranks, as ./odori timeline reads it.
#include <gtest/gtest.h>

#include "report/timeline.h"
#include "simulate/simulate.h"

namespace odori::simulate {
namespace {

cost::Cluster slow_nodes(int n) { return {.nodes = n, .between = {.latency = 1e-3, .bandwidth = 1e6}}; }

TEST(SimulatedTrace, IsReadByTheTimeline) {
  const std::string folder = ::testing::TempDir() + "odori_simulated";
  const Result result = run(slow_nodes(2),
                            [](Rank& rank) {
                              rank.compute(0.010, "forward");
                              if (rank.rank() == 0) rank.send(Bytes{2000}, 1);
                              if (rank.rank() == 1) rank.receive(Bytes{2000}, 0);
                            },
                            {.events = true});
  write_trace(result, folder);
  const auto timeline = timeline::read(folder);
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_TRUE(timeline.cut.empty());
  const timeline::Row& row = timeline.rows[1];
  EXPECT_EQ(row.iterations, (std::vector{timeline::Interval{0, 13'000}}));
  ASSERT_EQ(row.spans.size(), 2u);
  EXPECT_EQ(row.spans[0].time, (timeline::Interval{0, 10'000}));
  EXPECT_EQ(row.spans[1].name, "receive");
  EXPECT_EQ(row.spans[1].time, (timeline::Interval{10'000, 13'000}));
  EXPECT_EQ(row.spans[1].bytes, 2000);
  EXPECT_DOUBLE_EQ(timeline::shares_of(timeline, row).exposed_us, 3000);
}

TEST(SimulatedTrace, ShowsWaitingAsAGap) {
  const std::string folder = ::testing::TempDir() + "odori_simulated_waiting";
  const Result result = run(slow_nodes(3),
                            [](Rank& rank) {
                              rank.compute(rank.rank() == 0 ? 0.030 : 0.010, "forward");
                              if (rank.rank() == 0) rank.send(Bytes{2000}, 1);
                              if (rank.rank() == 1) rank.receive(Bytes{2000}, 0);
                            },
                            {.events = true, .recorded = {0, 1}});
  write_trace(result, folder);
  const auto timeline = timeline::read(folder);
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_EQ(timeline.rows[1].spans[1].time, (timeline::Interval{30'000, 33'000}));
  EXPECT_DOUBLE_EQ(timeline::shares_of(timeline, timeline.rows[1]).waiting_us, 20'000);
}

}  // namespace
}  // namespace odori::simulate
