// SPDX-License-Identifier: Apache-2.0
// Which training runs the demo compares, in which order, and what disturbs them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "demo/cpu_use.h"
#include "demo/plan.h"

namespace odori {
namespace {

TEST(Plan, TheBaselineIsTimedInBetweenAndTheHeadlineThreeTimes) {
  EXPECT_EQ(demo::order(3), (std::vector<std::size_t>{0, 1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(demo::order(4), (std::vector<std::size_t>{0, 1, 2, 0, 1, 3, 1, 0}));
}

TEST(Plan, ImagesAreChosenByTimeWithinTheDataSet) {
  EXPECT_EQ(demo::images_for(10, 812, 2, 50'000), 4100u);
  EXPECT_EQ(demo::images_for(10, 3, 2, 50'000), 600u);
  EXPECT_EQ(demo::images_for(10, 1e6, 1, 50'000), 50'000u);
  EXPECT_EQ(demo::images_for(10, 3, 2, 320), 320u);
}

TEST(Plan, TimeLeftIsThatOfTheTimedTrainingsWithTheirStart) {
  const std::vector<demo::Training> planned =
      demo::plan({.driver = "odori", .out = "out", .flags = {}, .n_devices = 2});
  ASSERT_EQ(planned.size(), 4u);
  std::vector<odori::Run> runs;
  for (const demo::Training& training : planned) runs.push_back(training.run);
  EXPECT_NE(runs[3].not_timed, "") << "four ranks on two cores";
  const std::vector<std::size_t> places{0, 1, 3};
  EXPECT_DOUBLE_EQ(demo::seconds_of(runs, places, 8000, {.images_per_second = 800, .start = 1}), 10 + 1 + 5 + 1);
}

TEST(CpuUse, OtherProgramsAreSeenAndOwnChildrenAreNot) {
  const demo::CpuUse before{.wall = 100, .all = 5000, .own = 30}, after{.wall = 110, .all = 5023, .own = 41};
  EXPECT_DOUBLE_EQ(demo::cores_of_others(before, after), 1.2);
  EXPECT_FALSE(demo::are_too_many(1.1, 2, 1)) << "one of two cores is left";
  EXPECT_TRUE(demo::are_too_many(1.1, 2, 2));
  EXPECT_FALSE(demo::are_too_many(0.1, 2, 2));
  const demo::CpuUse now = demo::cpu_use();
  EXPECT_GT(now.all, 0);
  EXPECT_GT(now.wall, 0);
}

TEST(Plan, RunsThatOutnumberTheCoresAreNotTimed) {
  const auto n_timed = [](int cores) {
    int n = 0;
    for (const auto& training : demo::plan({.driver = "./odori", .out = "out", .flags = {}, .n_devices = cores}))
      n += training.run.not_timed.empty();
    return n;
  };
  EXPECT_EQ(n_timed(1), 1);
  EXPECT_EQ(n_timed(2), 3);
  EXPECT_EQ(n_timed(4), 4);
}

TEST(Plan, CommandsAreWhatALearnerTypes) {
  const auto trainings =
      demo::plan({.driver = "./odori", .out = "out/demo", .flags = {"--model", "mid"}, .n_devices = 2});
  EXPECT_EQ(trainings[0].run.command, "./odori run single_gpu --solution --model mid --out out/demo/one_device");
  EXPECT_EQ(trainings[2].run.command,
            "./odori run multi_node --solution --ranks 2 --nodes 2 --communicator flat --model mid --out "
            "out/demo/2_nodes_2_ranks");
  EXPECT_EQ(trainings[2].run.nodes, 2);
  EXPECT_EQ(trainings[3].run.not_timed, "4 ranks would have to share this machine's 2 cores");
  EXPECT_EQ(trainings[3].run.not_timed_ja, "4 ランクがこのマシンの 2 コアを取り合うことになるため");
}

}  // namespace
}  // namespace odori
