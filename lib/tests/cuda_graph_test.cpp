// SPDX-License-Identifier: Apache-2.0
// What a graph on a GPU does besides arithmetic: captured passes, a data set in the GPU's memory, what an iteration
// costs the host, and what is said where it can't work. On an emulated GPU, which counts and is made to fail.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backend/device_pool.h"
#include "backend/emulated/emulator.h"
#include "backend/gpu_plugin.h"
#include "bench/measure.h"
#include "errors/error.h"
#include "model/classifier.h"
#include "model/layers.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "trace/trace.h"

namespace odori {
namespace {

constexpr int batch_size = 8;

/// Random images that say where they stand in memory, moved and turned.
struct Images {
  bench::RandomImages data{64};
  ImageStoragePtr storage = std::make_shared<ImageStorage>(
      ImageStorage{{{data[0].pixels, 20 * Example::bytes}, {data[20].pixels, 44 * Example::bytes}}});

  Batch batch(int first, int n = batch_size, bool stored = true) const {
    Batch batch{{}, data.transform(), stored ? storage : nullptr};
    batch.transform.crop_padding = 4;
    batch.transform.flip = true;
    for (int i = 0; i < n; ++i) batch.examples.push_back(data[static_cast<std::size_t>((first + i) % 64)]);
    return batch;
  }
};

class CudaGraphTest : public testing::TestWithParam<Precision> {
 protected:
  std::unique_ptr<Classifier> new_model(std::uint64_t seed = 3) {
    auto model = std::make_unique<Classifier>(create_network("tiny", 10), batch_size, seed);
    model->to_device(pool.use(0));
    return model;
  }
  static std::vector<float> gradients(Classifier& model) {
    std::vector<float> values(model.memory().gradients.size());
    model.device().read(model.memory().gradients, 0, values);
    return values;
  }

  Images images;
  DevicePool pool{{.request = DeviceRequest::cuda, .precision = GetParam()}};
};

/// Steps 2, 3, ... are captured graphs; each takes its own images, labels and random numbers.
TEST_P(CudaGraphTest, ARecordedStepIsTheStepItself) {
  const auto captured = new_model();
  for (int step = 0; step < 4; ++step) {
    captured->forward_backward(images.batch(8 * step));
    const auto fresh = new_model();  // its first passes are never captured
    ModelState state = captured->state();
    state.random.step = static_cast<std::uint64_t>(step);
    fresh->restore(state);
    fresh->forward_backward(images.batch(8 * step));
    EXPECT_EQ(gradients(*captured), gradients(*fresh)) << "step " << step;
    const Metrics a = captured->take_metrics(), b = fresh->take_metrics();
    EXPECT_EQ(a.loss_sum, b.loss_sum);
    EXPECT_EQ(a.correct, b.correct);
    EXPECT_EQ(a.samples, batch_size);
  }
  EXPECT_NE(captured->graph().describe().back().find("forward captured, backward captured"), std::string::npos)
      << captured->graph().describe().back();
}

TEST_P(CudaGraphTest, EvaluationBetweenStepsDisturbsNothing) {
  const auto plain = new_model(), evaluated = new_model();
  for (int step = 0; step < 4; ++step) {
    for (Classifier* model : {plain.get(), evaluated.get()}) model->forward_backward(images.batch(8 * step));
    evaluated->take_metrics();
    for (const int n : {batch_size, 3, batch_size + 5}) evaluated->evaluate(images.batch(1, n));
    EXPECT_EQ(evaluated->take_metrics().samples, batch_size + 3 + batch_size + 5);
    EXPECT_EQ(gradients(*plain), gradients(*evaluated)) << "step " << step;
  }
}

TEST_P(CudaGraphTest, ASmallerBatchCountsAsMuchAsItHas) {
  const auto model = new_model();
  Metrics whole, parts;
  for (int round = 0; round < 3; ++round) {
    model->evaluate(images.batch(0, 7));
    whole = model->take_metrics();
    model->evaluate(images.batch(0, 3));
    model->evaluate(images.batch(3, 4));
    parts = model->take_metrics();
    EXPECT_NEAR(parts.loss_sum, whole.loss_sum, 1e-5 * whole.loss_sum) << "round " << round;
    EXPECT_EQ(parts.correct, whole.correct);
  }
}

TEST_P(CudaGraphTest, ImagesOfAStoredSetAreThoseOfTheBatch) {
  const auto stored = new_model(), sent = new_model(), waiting = new_model();
  Metrics expected;
  for (int step = 0; step < 20; ++step) {  // more than there are pinned buffers
    const std::size_t before = emulator::allocated_bytes(0);
    stored->forward_backward(images.batch(5 * step));
    if (step == 0) {
      EXPECT_GE(emulator::allocated_bytes(0) - before, 64u * Example::bytes) << "The set isn't on the GPU.";
    }
    sent->forward_backward(images.batch(5 * step, batch_size, false));
    waiting->forward_backward(images.batch(5 * step, batch_size, false));
    expected += waiting->take_metrics();
  }
  EXPECT_EQ(gradients(*stored), gradients(*waiting));
  EXPECT_EQ(gradients(*sent), gradients(*waiting));
  for (Classifier* model : {stored.get(), sent.get()})
    EXPECT_NEAR(model->take_metrics().loss_sum, expected.loss_sum, 1e-9 * expected.loss_sum);
}

TEST_P(CudaGraphTest, ASetThatIsGoneIsForgotten) {
  const auto model = new_model();
  for (int round = 0; round < 3; ++round) {
    const Images others;  // likely at the same addresses as the ones before
    const auto expected = new_model();
    for (Classifier* m : {model.get(), expected.get()}) m->evaluate(others.batch(0));
    EXPECT_EQ(model->take_metrics().loss_sum, expected->take_metrics().loss_sum);
  }
}

TEST_P(CudaGraphTest, AnIterationAllocatesNothingAndWaitsForNothing) {
  const auto model = new_model();
  MomentumSGD optimizer(0.05f);
  optimizer.setup(*model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
  const auto iterate = [&](int times) {
    for (int i = 0; i < times; ++i) {
      model->forward_backward(images.batch(8 * i));
      optimizer.update();
    }
  };
  iterate(2);
  model->device().synchronize();
  const emulator::Counts before = emulator::counts();
  iterate(5);  // with more, the host would wait for a pinned buffer, of which the learning rate has taken one
  const emulator::Counts after = emulator::counts();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.graphs - before.graphs, 5) << "One per step.";
  EXPECT_EQ(after.launches - before.launches, 5) << "Loading.";
  EXPECT_EQ(after.waits, before.waits);
}

/// Launches and captured graphs of the first step, which is queued call by call, and of the fourth.
TEST_P(CudaGraphTest, AnUpdateInOneKernelLeavesOutTheCasts) {
  struct Cost {
    std::int64_t first, launches, graphs;
  };
  const auto cost = [&](GpuOptimizations optimizations) {
    DevicePool devices({.request = DeviceRequest::cuda, .precision = GetParam(), .optimizations = optimizations});
    Classifier model(create_network("tiny", 10), batch_size, 3);
    model.to_device(devices.use(0));
    MomentumSGD optimizer(0.05f);
    optimizer.setup(model);
    optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
    emulator::Counts before, after;
    std::int64_t first = 0;
    for (int step = 0; step < 4; ++step) {
      before = emulator::counts();
      model.forward_backward(images.batch(8 * step));
      optimizer.update();
      after = emulator::counts();
      if (step == 0) first = after.launches - before.launches;
    }
    return Cost{first, after.launches - before.launches, after.graphs - before.graphs};
  };
  const GpuOptimizations all, no_graph = all.without(GpuOptimization::step_graph),
                              unfused = all.without(GpuOptimization::fused_update);
  const Cost best = cost(all), two_graphs = cost(no_graph), casts = cost(unfused),
             neither = cost(unfused.without(GpuOptimization::step_graph));
  std::int64_t convolutions = 0;
  for (const std::string& line : new_model()->graph().describe())
    convolutions += line.find("backward weights") != std::string::npos;
  const bool bf16 = GetParam() == Precision::bf16;
  EXPECT_GT(convolutions, 1);
  EXPECT_EQ(casts.first - best.first, 1 + (bf16 ? convolutions : 0)) << "Weight decay, and casts of gradients.";
  EXPECT_EQ(best.launches, 1) << "Loading.";
  EXPECT_EQ(best.graphs, 1);
  EXPECT_EQ(casts.launches, bf16 ? 2 : 1) << "The cast of the weights.";
  EXPECT_EQ(casts.graphs, 1);
  EXPECT_EQ(two_graphs.launches, 2) << "Loading and the update.";
  EXPECT_EQ(two_graphs.graphs, 2);
  EXPECT_EQ(neither.launches, bf16 ? 4 : 3) << "Loading, the cast of the weights, weight decay and the update.";
  EXPECT_EQ(neither.graphs, 2);
}

/// The VGG's kinds of layers, in the same order: 3 batch normalizations, and a dropout after 2 of them.
Network few_layers(const NetworkSpec& spec) {
  Network net;
  net.push_back(convolution("conv1", 16));
  net.push_back(batch_normalization("bn1", true));
  net.push_back(dropout(0.3f));
  net.push_back(convolution("conv2", 16));
  net.push_back(batch_normalization("bn2", true));
  net.push_back(max_pooling());
  net.push_back(dropout(0.5f));
  net.push_back(linear("fc1", 32, false));
  net.push_back(batch_normalization("bn_fc1", true));
  net.push_back(dropout(0.5f));
  net.push_back(linear("fc2", spec.n_classes, false));
  return net;
}

/// The first, uncaptured step of these layers on a GPU with these optimizations.
struct FirstStep {
  FirstStep(Precision precision, const GpuOptimizations& optimizations) {
    DevicePool pool({.request = DeviceRequest::cuda, .precision = precision, .optimizations = optimizations});
    Classifier model({.name = "few layers", .layers = few_layers}, 2, 0);
    model.to_device(pool.use(0));
    const std::int64_t before = emulator::counts().launches;
    model.forward_backward(Images().batch(0, 2));
    gradients.resize(model.memory().gradients.size());
    model.device().read(model.memory().gradients, 0, gradients);
    launches = emulator::counts().launches - before;
  }
  std::int64_t launches;
  std::vector<float> gradients;
};

TEST_P(CudaGraphTest, BatchNormalizationSavesKernels) {
  const FirstStep all(GetParam(), {});
  const FirstStep without_last(GetParam(), GpuOptimizations().without(GpuOptimization::last_block));
  EXPECT_EQ(without_last.launches - all.launches, 2 * 3) << "One a pass for each of 3 layers.";
  const FirstStep without_dropout(GetParam(), GpuOptimizations().without(GpuOptimization::fused_dropout));
  EXPECT_EQ(without_dropout.launches - all.launches, 2 * 2) << "One a pass for each dropout after one of these layers.";
  EXPECT_EQ(without_dropout.gradients, all.gradients);
}

TEST_P(CudaGraphTest, ASnapshotGoesOnWithTheSameBits) {
  const auto model = new_model();
  for (int step = 0; step < 3; ++step) model->forward_backward(images.batch(8 * step));
  const ModelState state = model->state();
  Classifier resumed(create_network("tiny", 10), batch_size, 99);
  resumed.to_device(pool.use(0), {.measure = true});
  resumed.restore(state);
  for (Classifier* m : {model.get(), &resumed}) m->forward_backward(images.batch(30));
  EXPECT_EQ(gradients(*model), gradients(resumed));
  EXPECT_EQ(model->algorithms(), resumed.algorithms());
}

TEST_P(CudaGraphTest, WithAnEventStreamNothingIsRecorded) {
  const std::string folder = testing::TempDir() + "/cuda_graph_test_trace";
  const auto model = new_model();
  const auto captured = new_model();
  for (int step = 0; step < 3; ++step) captured->forward_backward(images.batch(8 * step));
  {
    const trace::File trace(folder, 0);
    const emulator::Counts before = emulator::counts();
    for (int step = 0; step < 3; ++step) model->forward_backward(images.batch(8 * step));
    EXPECT_EQ(emulator::counts().graphs, before.graphs);
  }
  EXPECT_EQ(gradients(*model), gradients(*captured));
}

TEST_P(CudaGraphTest, ShowsEachConvolutionsChoice) {
  Classifier model(create_network("tiny", 10), batch_size, 0);
  const std::int64_t of_zeros = emulator::counts().of_zeros;
  model.to_device(pool.use(0), {.measure = true});
  EXPECT_EQ(emulator::counts().of_zeros, of_zeros) << "Plans that are timed with zeros look faster than they are.";
  int measured = 0;
  for (const std::string& line : model.graph().describe()) measured += line.find(" ms, the fastest of") != line.npos;
  EXPECT_EQ(static_cast<std::size_t>(measured), model.algorithms().chosen.size());
  EXPECT_GT(measured, 0);
}

INSTANTIATE_TEST_SUITE_P(Precisions, CudaGraphTest, testing::Values(Precision::fp32, Precision::tf32, Precision::bf16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// ---- What can't work

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

class BadMachine : public testing::Test {
 protected:
  ~BadMachine() override { emulator::set_machine({}); }
};

TEST_F(BadMachine, OutOfMemorySaysHowMuchIsMissingAndWhichFlagHelps) {
  emulator::set_machine({.memory_bytes = std::size_t{64} << 20});
  const std::string said = refusal([] {
    DevicePool pool({.request = DeviceRequest::cuda});
    Classifier model(create_network("tiny", 10), 4096, 0);
    model.to_device(pool.use(0));
  });
  for (const char* part :
       {"GPU 0 is out of memory: ", " MiB, and ", " of its 64 MiB are free", "--batchsize", "--workspace-mib"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST_F(BadMachine, ThePeakOfAGpusMemoryIsTheMostThatWasHeldAtATime) {
  emulator::set_machine({.gpus = 2});
  DevicePool pool({.request = DeviceRequest::cuda});
  Device& device = pool.device(1);  // no other test has used this GPU
  const std::size_t at_first = gpu_plugin()->peak_memory(device);
  EXPECT_GE(at_first, std::size_t{32} << 20) << "What matrix products may take.";
  EXPECT_NEAR(static_cast<double>(at_first), static_cast<double>(emulator::allocated_bytes(1)), 4096);
  for (const std::size_t mebibytes : {1u, 8u, 3u}) device.allocate(mebibytes << 18);  // and frees it again
  EXPECT_EQ(gpu_plugin()->peak_memory(device), at_first + (std::size_t{8} << 20));
}

TEST_F(BadMachine, ASetThatDoesNotFitIsSentBatchByBatch) {
  emulator::set_machine({.memory_bytes = std::size_t{40} << 20});
  DevicePool pool({.request = DeviceRequest::cuda});
  Classifier model(create_network("tiny", 10), 4, 0);
  model.to_device(pool.use(0));
  const bench::RandomImages data(4096);  // 12 MiB
  Batch batch{{data[4095], data[0], data[7], data[8]}, data.transform()};
  model.evaluate(batch);
  const double sent = model.take_metrics().loss_sum;
  batch.storage = std::make_shared<ImageStorage>(ImageStorage{{{data[0].pixels, 4096 * Example::bytes}}});
  model.evaluate(batch);
  EXPECT_EQ(model.take_metrics().loss_sum, sent);
}

TEST_F(BadMachine, NoDriverATooOldOneAndHiddenGpusAreTold) {
  emulator::set_machine({.gpus = 0, .driver = cudaErrorNoDevice});
  EXPECT_EQ(gpu_count(), 0);
  EXPECT_NE(why_no_gpu().find("the NVIDIA driver sees no GPU"), std::string::npos) << why_no_gpu();
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_NE(why_no_gpu().find("CUDA_VISIBLE_DEVICES is \"\""), std::string::npos) << why_no_gpu();
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_NE(refusal([] { DevicePool({.request = DeviceRequest::cuda}); }).find("--device cuda needs a GPU"),
            std::string::npos);
  const DevicePool automatic({.request = DeviceRequest::automatic});
  EXPECT_EQ(automatic.kind(), DeviceKind::cpu);
  ASSERT_TRUE(automatic.warning(1).has_value());
  EXPECT_NE(automatic.warning(1)->find("No GPU is used: the NVIDIA driver"), std::string::npos);
  emulator::set_machine({.gpus = 0, .driver = cudaErrorInsufficientDriver});
  EXPECT_NE(why_no_gpu().find("driver"), std::string::npos) << why_no_gpu();
}

TEST_F(BadMachine, AGpuThatIsNotThereNeedsSharing) {
  emulator::set_machine({.gpus = 2});
  DevicePool pool({.request = DeviceRequest::cuda}), shared({.request = DeviceRequest::cuda, .share_devices = true});
  EXPECT_EQ(pool.device(1).description().substr(0, 6), "GPU 1 ");
  const std::string said = refusal([&] { pool.device(2); });
  EXPECT_NE(said.find("There is no GPU 2: this machine has 2"), std::string::npos) << said;
  EXPECT_NE(said.find("--share-devices"), std::string::npos) << said;
  EXPECT_EQ(shared.device(2).hardware().id, shared.device(0).hardware().id);
  EXPECT_NE(shared.device(1).hardware().id, shared.device(0).hardware().id);
}

}  // namespace
}  // namespace odori
