// SPDX-License-Identifier: Apache-2.0
// Training with GPU optimizations, and without them, has the same bits, whatever a program does between the passes of a
// step. (The loss is summed in another order by several blocks: it has the same bits with the same optimizations.)
#include "data/random_images.h"
#include "optim/adam.h"
#include "train_support.h"

namespace odori {
namespace {

using namespace test;

constexpr int batch_size = 8;
constexpr std::uint64_t usual = 18;  // Trainee::act(): an update that nothing comes before; and so is any larger number

const GpuOptimizations all, none = all.without(GpuOptimization::fused_update)
                                       .without(GpuOptimization::step_graph)
                                       .without(GpuOptimization::parallel_metrics)
                                       .without(GpuOptimization::dependent_launch);

/// A model that trains with momentum SGD and weight decay, on a GPU with some of the optimizations.
class Trainee {
 public:
  Trainee(Precision precision, GpuOptimizations optimizations) : pool_(options(precision, optimizations)) {
    model_.to_device(pool_.use(0));
    other_.to_device(pool_.use(0));
    optimizer_.setup(model_);
    optimizer_.add_hook(std::make_unique<WeightDecay>(0.01f));
    bare_.setup(model_);
    adam_.setup(model_);
    grouped_.add_group({.contains = [](const std::string& name) { return name.ends_with("/b"); },
                        .rate_factor = 8,
                        .weight_decay = 0.02f});
    grouped_.add_group({.contains = [](const std::string& name) { return name == "conv2/W"; }, .rate_factor = 0});
    grouped_.setup(model_);
    slow_ = model_.device().allocate(model_.memory().parameters.size());
  }

  /// Does one of the things that a program may do; `what` picks it.
  void act(std::uint64_t what, std::uint64_t step) {
    Device& device = model_.device();
    ModelMemory& memory = model_.memory();
    const Range whole{0, memory.parameters.size()}, first{0, whole.end / 3}, rest{first.end, whole.end};
    if (what != 9) model_.forward_backward(images_.batch(batch_size, step));
    switch (what) {
      case 0:  // reads the gradients before the update
        seen_.push_back(read(device, memory.gradients));
        optimizer_.update();
        break;
      case 1:  // changes them
        device.scale(0.5f, memory.gradients, first);
        optimizer_.update();
        break;
      case 2:  // updates in two ranges
        optimizer_.finish_exchange();
        optimizer_.update(rest);
        optimizer_.update(first);
        break;
      case 3:  // does not update, but computes others
        model_.forward_backward(images_.batch(batch_size, step + 100));
        optimizer_.update();
        break;
      case 4:  // trains another model meanwhile
        other_.forward_backward(images_.batch(batch_size, step));
        optimizer_.update();
        break;
      case 5:  // another rule, with weight decay applied before
        device.axpy(0.01f, memory.parameters, memory.gradients, whole);
        adam_.update();
        break;
      case 6:  // changes the parameters after the update
        optimizer_.update();
        device.scale(0.5f, memory.parameters, first);
        seen_.push_back(read(device, memory.parameters));
        break;
      case 7:  // evaluates between the passes and the update
        model_.evaluate(images_.batch(batch_size, step + 7));
        optimizer_.update();
        break;
      case 8: {  // another stream reads the parameters, and writes them
        const std::unique_ptr<Device> stream = device.create_stream();
        optimizer_.update();
        stream->wait_event(device.record_event());
        stream->scale(0.9f, memory.parameters, rest);
        device.wait_event(stream->record_event());
        break;
      }
      case 9:  // evaluates only
        model_.evaluate(images_.batch(3, step));
        break;
      case 10:  // restores, velocities too, which may lie elsewhere then
        optimizer_.update();
        model_.restore(model_.state());
        optimizer_.setup(model_);
        break;
      case 11:  // weight decay by hand, twice, on a part
        device.axpy(0.01f, memory.parameters, memory.gradients, first);
        device.axpy(0.02f, memory.parameters, memory.gradients, first);
        optimizer_.update();
        break;
      case 12:  // reads the gradients after the update
        bare_.update();
        seen_.push_back(read(device, memory.gradients));
        break;
      case 13:  // weight decay of a part
        device.axpy(0.01f, memory.parameters, memory.gradients, first);
        bare_.update();
        break;
      case 14:  // parameter groups, one of which is frozen now and then
        grouped_.group(1).rate_factor = step % 3 == 0 ? 0 : 8;
        grouped_.update();
        break;
      case 15:  // weight decay of all, and that of a group
        device.axpy(0.01f, memory.parameters, memory.gradients, whole);
        grouped_.update();
        break;
      case 16:  // averages of all parameters, of a part, and of the statistics
        bare_.update();
        device.look_ahead(slow_, memory.parameters, 0.75f, step % 2 ? whole : first);
        device.look_ahead(slow_, memory.statistics, 0.5f, {0, memory.statistics.size()});
        seen_.push_back(read(device, memory.gradients));
        break;
      case 17:  // averages into another model, which trains before and after
        other_.forward_backward(images_.batch(batch_size, step));
        bare_.update();
        device.look_ahead(other_.memory().parameters, memory.parameters, 0.5f, whole);
        other_.forward_backward(images_.batch(batch_size, step));
        seen_.push_back(read(device, other_.memory().gradients));
        break;
      default:
        optimizer_.set_learning_rate(0.05f / static_cast<float>(1 + step % 4));
        optimizer_.update();
    }
  }

  /// All that it has computed.
  std::vector<std::vector<float>> results() {
    std::vector<std::vector<float>> all = seen_;
    all.push_back(read(model_.device(), model_.memory().parameters));
    all.push_back(read(model_.device(), model_.memory().statistics));
    all.push_back(read(model_.device(), slow_));
    for (std::vector<float>& velocities : grouped_.state()) all.push_back(std::move(velocities));
    for (std::vector<float>& velocities : optimizer_.state()) all.push_back(std::move(velocities));
    return all;
  }
  Metrics take_metrics() { return model_.take_metrics(); }
  std::string graphs() { return model_.graph().describe().back(); }

 private:
  static DevicePoolOptions options(Precision precision, GpuOptimizations optimizations) {
    DevicePoolOptions options = device_under_test();
    options.precision = precision;
    options.optimizations = optimizations;
    return options;
  }

  struct Images {
    RandomImages data{64};
    Batch batch(int n, std::uint64_t first) const {
      Batch batch{{}, data.transform(), nullptr};
      batch.transform.crop_padding = 4;
      for (int i = 0; i < n; ++i) batch.examples.push_back(data[(first * 5 + static_cast<std::uint64_t>(i)) % 64]);
      return batch;
    }
  } images_;
  DevicePool pool_;
  Classifier model_{create_network("tiny", 10), batch_size, 3}, other_{create_network("tiny", 10), batch_size, 4};
  MomentumSGD optimizer_{0.05f}, bare_{0.02f};  // bare: without weight decay
  MomentumSGD grouped_{0.01f, 0.9f, MomentumRule::nesterov};
  Adam adam_;
  Buffer slow_;
  std::vector<std::vector<float>> seen_;
};

class OptimizationsTest : public testing::TestWithParam<Precision> {};

TEST_P(OptimizationsTest, TrainWithTheSameBits) {
  Trainee plain(GetParam(), none);
  for (std::uint64_t step = 0; step < 8; ++step) plain.act(usual, step);
  const Metrics expected = plain.take_metrics();
  const auto results = plain.results();
  std::vector<std::pair<std::string, GpuOptimizations>> cases{{"all", all}};
  for (const GpuOptimization one : {GpuOptimization::fused_update, GpuOptimization::step_graph,
                                    GpuOptimization::parallel_metrics, GpuOptimization::dependent_launch})
    cases.emplace_back(fmt::format("without {}", to_string(one)), all.without(one));
  for (const auto& [name, some] : cases) {
    SCOPED_TRACE(name);
    Trainee trainee(GetParam(), some);
    for (std::uint64_t step = 0; step < 8; ++step) trainee.act(usual, step);
    EXPECT_TRUE(trainee.results() == results);
    const Metrics metrics = trainee.take_metrics();
    EXPECT_NEAR(metrics.loss_sum, expected.loss_sum, 1e-13 * expected.loss_sum);
    EXPECT_EQ(metrics.correct, expected.correct);
    EXPECT_EQ(metrics.samples, expected.samples);
    EXPECT_EQ(trainee.graphs().find("step captured") != std::string::npos, some.has(GpuOptimization::step_graph))
        << trainee.graphs();
  }
}

TEST_P(OptimizationsTest, WhateverAProgramDoesBetweenThePasses) {
  RandomSequence random(11, RandomUse::synthetic_data);
  Trainee plain(GetParam(), none), with_all(GetParam(), all),
      without_update(GetParam(), all.without(GpuOptimization::fused_update)),
      without_graph(GetParam(), all.without(GpuOptimization::step_graph));
  std::string done;
  for (std::uint64_t step = 0; step < 48; ++step) {
    const std::uint64_t what = step <= usual ? step * 7 % (usual + 1) : random.below(22);  // each once, then at random
    done += " " + std::to_string(what);
    for (Trainee* const each : {&plain, &with_all, &without_update, &without_graph}) each->act(what, step);
    if (step % 8 != 7) continue;
    const auto expected = plain.results();
    ASSERT_TRUE(with_all.results() == expected) << "with all, after" << done;
    ASSERT_TRUE(without_update.results() == expected) << "without the fused update, after" << done;
    ASSERT_TRUE(without_graph.results() == expected) << "without the step's graph, after" << done;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, OptimizationsTest,
                         testing::Values(Precision::fp32, Precision::tf32, Precision::bf16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace odori
