// SPDX-License-Identifier: Apache-2.0
// Kernels that begin before the kernel before them has ended: the emulated GPU sees those that do not wait for it, and
// with the backend's own, trainings have the same bits.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "backend/device_pool.h"
#include "backend/emulated/emulator.h"
#include "backend/gpu_plugin.h"
#include "bench/measure.h"
#include "model/classifier.h"
#include "optim/adam.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"

namespace odori::emulator {
namespace {

// ---- Kernels: a thread for each element

__global__ void fill_with_ones(float* to) { to[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void add_one_after_waiting(const float* from, float* to) {
  cudaGridDependencySynchronize();
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1;
}
__global__ void add_one_without_waiting(const float* from, float* to) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1;
}
__global__ void add_one_waiting_too_late(const float* from, float* to) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float seen = from[i];
  cudaGridDependencySynchronize();
  to[i] = seen + 1;
}
__global__ void nothing() {}
__global__ void nothing_after_waiting() { cudaGridDependencySynchronize(); }
__global__ void wait_after_barrier() {
  __syncthreads();
  cudaGridDependencySynchronize();
}

// ---- Around them

/// Queues a kernel that may begin before the one before it has ended.
template <typename... Parameters, typename... Arguments>
void launch_early(cudaStream_t stream, int blocks, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config;
  config.gridDim = dim3(static_cast<unsigned int>(blocks));
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
}

/// Four blocks of elements on a stream of a machine with this seed: -5 at first.
struct Chain {
  static constexpr int blocks = 4, n = blocks * 32;

  explicit Chain(std::uint64_t seed) {
    set_machine({.seed = seed});
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (float*& memory : x) {
      void* allocated = nullptr;
      cudaMalloc(&allocated, n * sizeof(float));
      memory = static_cast<float*>(allocated);
      const std::vector<float> before(n, -5.0f);
      cudaMemcpyAsync(memory, before.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
  }
  ~Chain() {
    for (float* const memory : x) cudaFree(memory);
    cudaStreamDestroy(stream);
    set_machine({});
  }
  void fill_with_one() {
    cudaLaunchConfig_t config;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(32);
    config.stream = stream;
    cudaLaunchKernelEx(&config, fill_with_ones, x[0]);
  }
  std::set<float> read(const float* memory) const {
    std::vector<float> values(n);
    cudaMemcpyAsync(values.data(), memory, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return {values.begin(), values.end()};
  }
  /// Runs work() as it is, or as a captured graph.
  void run(bool captured, const std::function<void()>& work) const {
    if (!captured) return work();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    work();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphInstantiate(&executable, graph);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }

  cudaStream_t stream = nullptr;
  std::array<float*, 3> x = {};
};

/// What x[2] held over many seeds after: x[0] = 1; x[1] = x[0] + 1; x[2] = x[1] + 1, the last two by `kernel`.
using AddOne = void (*)(const float*, float*);
std::set<float> seen_after(AddOne kernel, bool captured) {
  std::set<float> seen;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Chain chain(seed);
    chain.run(captured, [&] {
      chain.fill_with_one();
      for (const std::size_t i : {0u, 1u}) {
        const float* from = chain.x[i];
        launch_early(chain.stream, Chain::blocks, kernel, from, chain.x[i + 1]);
      }
    });
    seen.merge(chain.read(chain.x[2]));
  }
  return seen;
}

TEST(EarlyKernels, OneThatWaitsIsRightAndOneThatDoesNotIsWrongSometimes) {
  for (const bool captured : {false, true}) {
    const Counts before = counts();
    EXPECT_EQ(seen_after(add_one_after_waiting, captured), (std::set<float>{3}));
    EXPECT_EQ(counts().dependent_launches - before.dependent_launches, 2 * 40);
    EXPECT_GT(counts().begun_early - before.begun_early, 0) << "Or nothing was tested.";
    EXPECT_EQ(seen_after(add_one_without_waiting, captured), (std::set<float>{-4, -3, 3}));
    EXPECT_TRUE(seen_after(add_one_waiting_too_late, captured).contains(-4));
  }
}

/// A kernel waits for the one directly before it: if that did not wait, nothing is known of those before.
TEST(EarlyKernels, OneInBetweenThatDoesNotWaitShows) {
  for (const auto& [between, expected] :
       {std::pair{&nothing_after_waiting, std::set<float>{2}}, std::pair{&nothing, std::set<float>{-4, 2}}})
    for (const bool captured : {false, true}) {
      std::set<float> seen;
      for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Chain chain(seed);
        chain.run(captured, [&, kernel = between] {
          chain.fill_with_one();
          launch_early(chain.stream, 1, kernel);
          const float* from = chain.x[0];
          launch_early(chain.stream, Chain::blocks, add_one_after_waiting, from, chain.x[1]);
        });
        seen.merge(chain.read(chain.x[1]));
      }
      EXPECT_EQ(seen, expected);
    }
}

/// After a copy, at the beginning of a graph and after a wait for another stream, a kernel begins when all is done.
TEST(EarlyKernels, OnlyDirectlyAfterAKernelTheyBeginEarly) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Chain chain(seed);
    const std::int64_t before = counts().begun_early;
    chain.fill_with_one();
    cudaMemcpyAsync(chain.x[1], chain.x[0], Chain::n * sizeof(float), cudaMemcpyDeviceToDevice, chain.stream);
    const float* from = chain.x[1];
    launch_early(chain.stream, Chain::blocks, add_one_without_waiting, from, chain.x[2]);
    EXPECT_EQ(chain.read(chain.x[2]), (std::set<float>{2}));
    chain.fill_with_one();
    chain.run(true, [&] { launch_early(chain.stream, Chain::blocks, add_one_without_waiting, from, chain.x[2]); });
    cudaStream_t other = nullptr;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    chain.run(true, [&] {
      chain.fill_with_one();
      cudaEventRecord(event, chain.stream);
      cudaStreamWaitEvent(other, event);
      from = chain.x[0];
      launch_early(other, Chain::blocks, add_one_without_waiting, from, chain.x[1]);
      cudaEventRecord(event, other);
      cudaStreamWaitEvent(chain.stream, event);
      from = chain.x[1];
      launch_early(chain.stream, Chain::blocks, add_one_without_waiting, from, chain.x[2]);
    });
    EXPECT_EQ(chain.read(chain.x[2]), (std::set<float>{3}));
    EXPECT_EQ(counts().begun_early, before);
    cudaEventDestroy(event);
    cudaStreamDestroy(other);
  }
}

TEST(EarlyKernelsDeathTest, AWaitAfterABarrierEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Chain chain(seed);
        chain.fill_with_one();
        launch_early(chain.stream, 1, wait_after_barrier);
        cudaStreamSynchronize(chain.stream);
      },
      "waits for the kernel before it after a barrier");
}

// ---- The backend's kernels

/// A layer of each kind, with channels that are read one by one, too.
Network every_kind(const NetworkSpec& spec) {
  Network net;
  net.push_back(convolution("conv1", 16));
  net.push_back(bias("bias1"));
  net.push_back(gelu());
  net.push_back(dropout(0.2f));
  net.push_back(max_pooling(2));  // 16
  net.push_back(batch_normalization("bn1", true));
  net.push_back(dropout(0.3f));
  net.push_back(convolution("conv2", 9));
  net.push_back(batch_normalization("bn2", false));
  net.push_back(relu());
  net.push_back(max_pooling(4));  // 4
  net.push_back(linear("fc1", 32, true));
  net.push_back(batch_normalization("bn3", false));
  net.push_back(gelu());
  net.push_back(linear("fc2", spec.n_classes, false));
  net.push_back(logits({.scale = 0.5f, .smoothing = 0.1f}));
  return net;
}

/// Steps on a machine: the first is queued call by call, the second captured, if nothing comes between its passes.
struct Training {
  Training(const Machine& machine, Precision precision, const GpuOptimizations& optimizations, bool with_adam) {
    set_machine(machine);
    DevicePool pool({.request = DeviceRequest::cuda, .precision = precision, .optimizations = optimizations});
    Device& device = pool.use(0);
    Classifier model({.name = "every kind", .layers = every_kind}, 4, 3);
    model.to_device(device);
    MomentumSGD momentum(0.05f);
    Adam adam;
    Optimizer& optimizer = with_adam ? static_cast<Optimizer&>(adam) : momentum;
    optimizer.setup(model);
    optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
    const bench::RandomImages images(4);
    const Range whole{0, model.memory().parameters.size()};
    const Counts before = counts();
    Counts last;
    for (int step = 0; step < 3; ++step) {
      last = counts();
      model.forward_backward(images.batch(4));
      if (with_adam) {  // kernels on flat vectors, one after another
        device.scale(0.5f, model.memory().gradients, whole);
        device.swap(model.memory().gradients, model.memory().parameters, whole);
        device.scale(2, model.memory().parameters, whole);
        device.swap(model.memory().gradients, model.memory().parameters, whole);
      }
      optimizer.update();
      device.synchronize();
    }
    dependent_launches = counts().dependent_launches - before.dependent_launches;
    begun_early = counts().begun_early - before.begun_early;
    begun_early_in_last = counts().begun_early - last.begun_early;
    loss_sum = model.take_metrics().loss_sum;
    results.resize(whole.end + model.memory().statistics.size());
    device.read(model.memory().parameters, 0, std::span(results).first(whole.end));
    device.read(model.memory().statistics, 0, std::span(results).subspan(whole.end));
  }
  std::int64_t dependent_launches, begun_early, begun_early_in_last;
  double loss_sum;
  std::vector<float> results;  // parameters and running statistics
};

constexpr GpuOptimizations all;
/// With more kernels of their own.
constexpr GpuOptimizations plain = all.without(GpuOptimization::fused_update)
                                       .without(GpuOptimization::last_block)
                                       .without(GpuOptimization::fused_dropout)
                                       .without(GpuOptimization::fused_gelu);

class DependentLaunch : public testing::TestWithParam<Precision> {
 protected:
  ~DependentLaunch() override { set_machine({}); }
};

/// A kernel that reads something before it waits for the kernel before changes the parameters.
TEST_P(DependentLaunch, KernelsBeginEarlyAndTheNumbersAreTheSame) {
  for (const bool with_adam : {false, true}) {
    const GpuOptimizations on = with_adam ? plain : all, off = on.without(GpuOptimization::dependent_launch);
    const Training in_order({}, GetParam(), off, with_adam);
    EXPECT_EQ(in_order.dependent_launches, 0);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      const Training early({.seed = seed}, GetParam(), on, with_adam);
      EXPECT_GT(early.dependent_launches, 50);
      EXPECT_GT(early.begun_early, 4);
      EXPECT_GT(early.begun_early_in_last, 0);
      EXPECT_TRUE(early.results == in_order.results);
      EXPECT_EQ(early.loss_sum, in_order.loss_sum);
    }
  }
}

TEST_P(DependentLaunch, ComesWithArchitectureNine) {
  EXPECT_EQ(Training({.architecture = 8}, GetParam(), all, false).dependent_launches, 0);
  EXPECT_EQ(Training({.code = 80}, GetParam(), all, false).dependent_launches, 0) << "older PTX doesn't wait";
  for (const int architecture : {8, 9}) {
    set_machine({.architecture = architecture});
    DevicePool pool({.request = DeviceRequest::cuda});
    EXPECT_EQ(gpu_plugin()->optimizations(pool.use(0)).has(GpuOptimization::dependent_launch), architecture == 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DependentLaunch, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace odori::emulator
