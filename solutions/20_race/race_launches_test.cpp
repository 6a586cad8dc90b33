// SPDX-License-Identifier: Apache-2.0
// What a step of the race launches on a GPU, and that it computes the same with fewer launches. On an emulated GPU,
// which counts.
#include <gtest/gtest.h>

#include "backend/device_pool.h"
#include "backend/emulated/emulator.h"
#include "data/random_images.h"
#include "race_start.h"
#include "race_training.h"

namespace odori::race {
namespace {

/// The whitening bias is frozen after 4 steps; averages follow steps 5 and 10, and the last one, 12.
const Recipe recipe{.batch = 16, .epochs = 3, .whitening_images = 16, .whitening_bias_epochs = 1};

struct Trained {
  Trained(Precision precision, const GpuOptimizations& optimizations) {
    DevicePool pool({.request = DeviceRequest::cuda, .precision = precision, .optimizations = optimizations});
    const RandomImages images(64);
    Classifier model(network_of_size("tiny"), recipe.batch, 0);
    model.to_device(pool.use(0));
    write_initial_values(model, images, recipe, 1);
    Training training(model, recipe, 4);
    while (training.steps_done() < training.steps()) {
      Batch batch{{}, images.transform(), {}};
      for (int i = 0; i < recipe.batch; ++i)
        batch.examples.push_back(images[static_cast<std::size_t>(training.steps_done() * 5 + i) % 64]);
      const emulator::Counts before = emulator::counts();
      training.step(batch);
      const emulator::Counts after = emulator::counts();
      launches.push_back(after.launches - before.launches), graphs.push_back(after.graphs - before.graphs);
    }
    for (const auto& [name, view] : model.parameters())
      values.push_back(model.graph().read_parameter(model.memory().parameters, view));
    for (const auto& [name, view] : model.statistics())
      values.push_back(model.graph().read_parameter(model.memory().statistics, view));
  }
  std::vector<std::int64_t> launches, graphs;  // of each step
  std::vector<std::vector<float>> values;      // at the end
};

class RaceLaunches : public testing::TestWithParam<Precision> {};

TEST_P(RaceLaunches, AStepIsOneGraph) {
  const Trained trained(GetParam(), {});
  ASSERT_EQ(trained.launches.size(), 12u);
  EXPECT_EQ(trained.launches[0], 65) << "not captured; README.md has this number";
  for (std::size_t step = 1; step < 12; ++step) {
    EXPECT_EQ(trained.graphs[step], 1) << "step " << step;
    const bool averages = step == 4 || step == 9 || step == 11;
    EXPECT_EQ(trained.launches[step], averages ? 3 : 1) << "step " << step << ": loading, and two averages";
  }
}

TEST_P(RaceLaunches, OneKernelUpdatesAllGroupsWithTheSameBits) {
  const GpuOptimizations all, unfused = all.without(GpuOptimization::fused_update);
  const Trained fused(GetParam(), all), by_parts(GetParam(), unfused),
      neither(GetParam(), unfused.without(GpuOptimization::step_graph));
  // Each of 6 normalizations is between a weight and a weight, in three groups; the first two parameters and the last
  // one are 3 more parts. In bf16 the gradients of 7 convolutions are cast, and all weights.
  const int parts = 3 + 6 * 3, casts = GetParam() == Precision::bf16 ? 7 + 1 : 0;
  EXPECT_EQ(by_parts.launches[0] - fused.launches[0], parts - 1 + casts);
  EXPECT_EQ(by_parts.values, fused.values);
  EXPECT_EQ(neither.values, fused.values);
}

TEST_P(RaceLaunches, GelusAreDoneByBatchNormalizationWithTheSameBits) {
  const GpuOptimizations all;
  const Trained fused(GetParam(), all), alone(GetParam(), all.without(GpuOptimization::fused_gelu));
  EXPECT_EQ(alone.launches[0] - fused.launches[0], 2 * 6) << "One a pass for each GELU after one of these layers.";
  EXPECT_EQ(alone.values, fused.values);
}

INSTANTIATE_TEST_SUITE_P(Precisions, RaceLaunches, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace odori::race
