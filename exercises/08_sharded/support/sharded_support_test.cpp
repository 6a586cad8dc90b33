// SPDX-License-Identifier: Apache-2.0
// Adam's state, layers that are gathered on use, and the training run around functions that are right or wrong.
#include "sharded_support.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "backend/reference/adam.h"
#include "files/file.h"
#include "sentence_of.h"
#include "synthetic.h"
#include "zero_memory.h"

namespace odori {
namespace {

using Floats = std::vector<float>;

/// Right, with more bytes than are needed.
ShardedProgram slow() {
  return {.make_state = [](std::size_t n, const ProcessGroup& world) { return AdamState(world.shard(n).size()); },
          .clip =
              [](std::span<float> shard, float max_norm, const ProcessGroup& world) {
                Floats squares(1, std::inner_product(shard.begin(), shard.end(), shard.begin(), 0.0f));
                world.all_reduce(squares);
                const float factor = std::min(1.0f, max_norm / std::sqrt(squares[0]));
                for (float& value : shard) value *= factor;
              },
          .update =
              [](std::span<float> parameters, std::span<float> gradients, AdamState& state, float max_norm,
                 const ProcessGroup& world) {
                world.all_reduce(gradients);
                const Range shard = world.shard(parameters.size());
                Floats mine(gradients.begin() + static_cast<std::ptrdiff_t>(shard.begin),
                            gradients.begin() + static_cast<std::ptrdiff_t>(shard.end));
                for (float& value : mine) value /= static_cast<float>(world.size());
                slow().clip(mine, max_norm, world);
                Floats all(parameters.size());
                for (std::size_t i = 0; i < mine.size(); ++i) {
                  state.update(i, parameters[shard.begin + i], mine[i]);
                  all[shard.begin + i] = parameters[shard.begin + i];
                }
                world.all_reduce(all);
                std::ranges::copy(all, parameters.begin());
              },
          .reshard = [](const std::vector<Floats>&, int, int) { return Floats(); },
          .forward =
              [](ShardedModel& model) {
                for (int layer = 0; layer < model.layers(); ++layer) {
                  model.start_gather(layer);
                  model.wait(layer);
                  model.forward(layer);
                }
              },
          .backward =
              [](ShardedModel& model, const ProcessGroup& world) {
                for (int layer = model.layers() - 1; layer >= 0; --layer) {
                  model.backward(layer);
                  world.reduce_scatter_mean(model.gradients(layer), model.mean_shard(layer));
                  model.free_gradients(layer);
                  model.free_parameters(layer);
                }
              },
          .batch = 6,
          .n_layers = 3,
          .width = 5};
}

ProcessGroup all_ranks() { return create_communicator("flat")->group(); }

// ---- Adam's state

TEST(AdamState, UpdatesAsThePaper) {
  Floats p{1, -2, 3}, g{0.5f, -0.25f, 0}, m(3), v(3), seen = p;
  AdamState state(3);
  for (int t = 1; t <= 4; ++t, g[2] += 0.125f) {
    reference::adam(p, g, m, v, t, 0.1f);
    state.begin_update(0.1f);
    for (std::size_t i = 3; i-- > 0;) state.update(i, seen[i], g[i]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(seen[i], p[i], 1e-5) << t << ' ' << i;
  }
}

TEST(AdamState, HasTheElementsOfAShardOnly) {
  AdamState state(2);
  float parameter = 1;
  state.begin_update(0.1f);
  EXPECT_SENTENCE(state.update(2, parameter, 1), "has 2 elements, counted from 0, so there is no element 2");
  EXPECT_EQ(parameter, 1);
}

TEST(ShardOf, IsThatOfTheGroup) {
  const ProcessGroup world = all_ranks();
  for (const std::size_t size : {0u, 1u, 7u, 100u})
    for (int rank = 0; rank < world.size(); ++rank) {
      EXPECT_EQ(shard_of(size, rank, world.size()).begin, world.shard(size, rank).begin);
      EXPECT_EQ(shard_of(size, rank, world.size()).end, world.shard(size, rank).end);
    }
  EXPECT_SENTENCE(shard_of(7, 2, 2), "no rank 2 of 2");
}

// ---- Layers

class Layers : public testing::Test {
 protected:
  Layers() {
    model_.begin_step(
        {[this](int layer, std::span<const float> values) { forward_[layer].assign(values.begin(), values.end()); },
         [this](int layer, std::span<const float> values, std::span<float> gradients) {
           EXPECT_EQ(forward_[layer], Floats(values.begin(), values.end()));
           for (std::size_t i = 0; i < gradients.size(); ++i)
             gradients[i] = static_cast<float>(world_.rank() + 10 * layer + 100 * static_cast<int>(i));
         }});
  }
  void gather(int i) {
    model_.start_gather(i);
    model_.wait(i);
  }

  static constexpr std::array<std::size_t, 3> sizes_{8, 2, 5};
  static Floats squares() {
    Floats values(15);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i);
    return values;
  }
  const Floats parameters_ = squares();
  const ProcessGroup world_ = all_ranks();
  std::map<int, Floats> forward_;
  ShardedModel model_{sizes_, parameters_, world_};
};

TEST_F(Layers, AreGatheredFromAllRanksAndFreed) {
  slow().forward(model_);
  EXPECT_EQ(forward_[0], Floats(parameters_.begin(), parameters_.begin() + 8));
  EXPECT_EQ(forward_[1], (Floats{64, 81}));
  slow().backward(model_, world_);
  model_.end_step();
  EXPECT_EQ(model_.most_parameters(), 15u);
  EXPECT_EQ(model_.most_gradients(), 8u);
  const float mean_rank = static_cast<float>(world_.size() - 1) / 2;
  for (int layer = 0; layer < 3; ++layer) {
    std::size_t i = world_.shard(sizes_[static_cast<std::size_t>(layer)]).begin;
    for (const float value : model_.mean_shard(layer))
      EXPECT_FLOAT_EQ(value, mean_rank + static_cast<float>(10 * layer + 100 * static_cast<int>(i++)));
  }
  std::size_t own = 0;
  for (const std::size_t size : sizes_) own += world_.shard(size).size();
  EXPECT_EQ(model_.shards().size(), own);
}

TEST_F(Layers, RefuseCallsAtAWrongTime) {
  EXPECT_SENTENCE(model_.forward(0), "the parameters of layer 0 are not in memory");
  EXPECT_SENTENCE(model_.wait(0), "the gather of layer 0 has not been started");
  EXPECT_SENTENCE(model_.start_gather(3), "no such layer. They are counted from 0 to 2");
  EXPECT_SENTENCE(model_.gradients(0), "there are none in memory");
  model_.start_gather(0);
  EXPECT_SENTENCE(model_.forward(0), "Wait for it first: model.wait(0)");
  EXPECT_SENTENCE(model_.free_parameters(0), "Wait for it first: model.wait(0)");
  gather(1);
  EXPECT_SENTENCE(model_.forward(1), "not the turn of this layer");
  EXPECT_SENTENCE(model_.backward(1), "not the turn of this layer");
  EXPECT_SENTENCE(model_.end_step(), "0 of 3 layers were computed in forward, and 0 in backward");
  model_.wait(0);
  model_.free_parameters(0);
  EXPECT_SENTENCE(model_.wait(0), "or its parameters are freed again");
}

TEST_F(Layers, LeaveOnlyShardsInMemory) {
  slow().forward(model_);
  for (const int layer : {2, 1, 0}) model_.backward(layer);
  EXPECT_EQ(model_.most_gradients(), 15u);
  EXPECT_SENTENCE(model_.end_step(), "all gradients of layer 0 are still in memory");
  for (int i = 0; i < 3; ++i) model_.free_gradients(i);
  EXPECT_SENTENCE(model_.end_step(), "all parameters of layer 0 are still in memory");
  for (int i = 0; i < 3; ++i) model_.free_parameters(i);
  model_.end_step();
  for (const float value : model_.mean_shards()) EXPECT_TRUE(std::isnan(value));  // nobody filled them
}

// ---- The training run

class TrainingSharded : public testing::Test {
 protected:
  TrainingSharded() {
    synthetic::write_files(folder_.path(), {.train = 40, .test = 12});
    args_.dataset = folder_.path().string();
    args_.epoch = 2;
    args_.learnrate = 0.001f;
  }
  /// What rank 0 prints.
  std::string printed(const ShardedProgram& program) const {
    const auto comm = create_communicator("flat");
    if (comm->rank() == 0) testing::internal::CaptureStdout();
    train_sharded(program, args_, *comm);
    return comm->rank() == 0 ? testing::internal::GetCapturedStdout() : "";
  }

  const TemporaryFolder folder_{testing::TempDir() + "odori_sharded_"};
  Arguments args_;
};

TEST_F(TrainingSharded, OfBothPartsIsThatOfOneProcess) {
  for (const int stage : {1, 3}) {
    ShardedProgram program = slow();
    program.stage = stage;
    const std::string text = printed(program);
    if (text.empty()) continue;  // another rank than 0
    EXPECT_EQ(text.find("WRONG"), std::string::npos) << text;
    EXPECT_NE(text.find("Part B, loss after 3 updates"), std::string::npos) << text;
    EXPECT_NE(text.find("GB a rank"), std::string::npos) << text;
    EXPECT_NE(text.find("\n2      "), std::string::npos) << text;
  }
}

TEST_F(TrainingSharded, ShowsWhichPartIsWrong) {
  ShardedProgram wrong = slow();
  wrong.clip = [](std::span<float> shard, float max_norm, const ProcessGroup& world) {
    slow().clip(shard, max_norm, world);
    for (float& value : shard) value = -value;
  };
  const std::string text = printed(wrong);
  if (text.empty()) return;
  EXPECT_NE(text.find("Part B, loss after 3 updates"), std::string::npos) << text;
  EXPECT_NE(text.find("WRONG"), std::string::npos) << text;
}

TEST_F(TrainingSharded, RefusesABatchThatCannotBeShared) {
  const auto comm = create_communicator("flat");
  if (comm->size() == 1) return;
  ShardedProgram odd = slow();
  odd.batch = 7;
  EXPECT_SENTENCE(train_sharded(odd, args_, *comm), "cannot be shared equally");
}

// 16 bytes a parameter are 112 GB; of stages 2 and 3, the gradients of one layer and the parameters of two are whole.
TEST(ZeroMemory, IsShardedStageByStage) {
  constexpr double layer = 4 * 7.0 / 32;
  EXPECT_DOUBLE_EQ(zero_gigabytes(0, 64), 112);
  EXPECT_DOUBLE_EQ(zero_gigabytes(1, 64), 56 + 56.0 / 64);
  EXPECT_DOUBLE_EQ(zero_gigabytes(2, 64), 28 + 84.0 / 64 + layer);
  EXPECT_DOUBLE_EQ(zero_gigabytes(3, 64), 112.0 / 64 + 3 * layer);
}

}  // namespace
}  // namespace odori
