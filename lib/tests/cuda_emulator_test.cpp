// SPDX-License-Identifier: Apache-2.0
// The emulated GPU sees the mistakes that it is there for, and CUDA's promises hold on it.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "backend/emulated/emulator.h"

namespace odori::emulator {
namespace {

// ---- Kernels

__global__ void fill(float* to, float value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = value;
}

/// Each block turns its numbers round.
__global__ void reverse(const float* from, float* to) {
  __shared__ float shared[64];
  shared[threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  to[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
__global__ void reverse_without_barrier(const float* from, float* to) {
  __shared__ float shared[64];
  shared[threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
  to[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum_of_warps(const float* from, float* to) {
  float sum = from[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  to[threadIdx.x] = sum;
}

__global__ void barrier_for_some() {
  if (threadIdx.x < 5) __syncthreads();
}
__global__ void shuffle_for_some() {
  if (threadIdx.x < 5) __shfl_xor_sync(0xffffffff, 1, 1);
}

// ---- Around them

class EmulatorTest : public testing::TestWithParam<int> {
 protected:
  EmulatorTest() {
    set_machine({.gpus = 2, .memory_bytes = 1 << 20, .seed = static_cast<std::uint64_t>(GetParam())});
    for (cudaStream_t* stream : {&a, &b}) cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  ~EmulatorTest() override {
    for (float* memory : allocated) cudaFree(memory);
    for (float* memory : pinned) cudaFreeHost(memory);
    cudaEventDestroy(event);
    for (const cudaStream_t stream : {a, b}) cudaStreamDestroy(stream);
    set_machine({});
  }

  float* allocate(int n) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, static_cast<std::size_t>(n) * sizeof(float)), cudaSuccess);
    return allocated.emplace_back(static_cast<float*>(memory));
  }
  float* allocate_pinned(int n) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocHost(&memory, static_cast<std::size_t>(n) * sizeof(float)), cudaSuccess);
    return pinned.emplace_back(static_cast<float*>(memory));
  }
  float* filled(int n) {  // 0, 1, 2, ...
    std::vector<float> values(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
    float* memory = allocate(n);
    cudaMemcpyAsync(memory, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, a);
    return memory;
  }
  std::vector<float> read(const float* memory, int n, cudaStream_t stream) {
    std::vector<float> values(static_cast<std::size_t>(n));
    cudaMemcpyAsync(values.data(), memory, values.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return values;
  }
  template <typename... Parameters, typename... Arguments>
  cudaError_t launch(cudaStream_t stream, int blocks, int threads, void (*kernel)(Parameters...),
                     Arguments... arguments) {
    cudaLaunchConfig_t config;
    config.gridDim = dim3(static_cast<unsigned int>(blocks));
    config.blockDim = dim3(static_cast<unsigned int>(threads));
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
  }

  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  std::vector<float*> allocated, pinned;
};
using EmulatorDeathTest = EmulatorTest;

TEST_P(EmulatorTest, BarriersAndShuffles) {
  const float* from = filled(192);
  float* to = allocate(192);
  EXPECT_EQ(launch(a, 3, 64, reverse, from, to), cudaSuccess);
  const auto seen = read(to, 192, a);
  for (int i = 0; i < 192; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i / 64 * 64 + 63 - i % 64);
  EXPECT_EQ(launch(a, 1, 64, sum_of_warps, from, to), cudaSuccess);
  const auto sums = read(to, 64, a);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(sums[static_cast<std::size_t>(i)], i < 32 ? 496 : 496 + 32 * 32);
}

TEST_P(EmulatorTest, AMissingBarrierShows) {
  const float* from = filled(64);
  float* to = allocate(64);
  launch(a, 1, 64, reverse, from, to);
  const auto right = read(to, 64, a);
  launch(a, 1, 64, fill, to, -1.0f, 64);
  launch(a, 1, 64, reverse_without_barrier, to, to);  // leaves -1 in its shared memory
  launch(a, 1, 64, reverse_without_barrier, from, to);
  EXPECT_NE(read(to, 64, a), right);
}

TEST_P(EmulatorDeathTest, WhatIsSurelyWrongEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&](auto kernel) {
    launch(a, 1, 64, kernel);
    cudaStreamSynchronize(a);
  };
  EXPECT_DEATH(run(barrier_for_some), "not all threads of block .0, 0. reach the same barrier");
  EXPECT_DEATH(run(shuffle_for_some), "not all threads of block");
  EXPECT_DEATH(
      {
        launch(a, 1, 64, fill, allocate(63), 1.0f, 64);
        cudaStreamSynchronize(a);
      },
      "write next to an allocation of 252 bytes of GPU memory");
  EXPECT_DEATH(launch(nullptr, 1, 1, fill, allocate(1), 1.0f, 1), "default stream");
  float host[2];
  EXPECT_DEATH(cudaMemcpyAsync(host, allocate(1), 8, cudaMemcpyDeviceToHost, a), "copy of 8 bytes from a GPU");
}

TEST_P(EmulatorTest, MemoryIsFreshAsNotANumberAndLimited) {
  for (const float x : read(allocate(100), 100, a)) EXPECT_TRUE(std::isnan(x));
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1 << 20), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(launch(a, 1, 1, fill, allocated[0], 1.0f, 1), cudaErrorInvalidResourceHandle) << "another GPU's stream";
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
}

TEST_P(EmulatorTest, WrongLaunchesAreErrors) {
  float* to = allocate(1);
  EXPECT_EQ(launch(a, 0, 1, fill, to, 1.0f, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(a, 1, 1025, fill, to, 1.0f, 1), cudaErrorInvalidConfiguration);
}

TEST_P(EmulatorTest, APinnedCopyReadsWhenItRuns) {
  float* host = allocate_pinned(1);
  float* to = allocate(1);
  *host = 1;
  cudaMemcpyAsync(to, host, sizeof(float), cudaMemcpyHostToDevice, a);
  cudaEventRecord(event, a);
  cudaEventSynchronize(event);
  *host = 2;
  EXPECT_EQ(read(to, 1, a)[0], 1) << "after waiting for the event";
}

TEST_P(EmulatorTest, EventsOrderStreams) {
  float *x = allocate(1), *y = allocate(1);
  for (int run = 0; run < 20; ++run) {
    launch(a, 1, 1, fill, x, static_cast<float>(run), 1);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event);
    cudaMemcpyAsync(y, x, sizeof(float), cudaMemcpyDeviceToDevice, b);
    cudaEventRecord(event, b);
    cudaStreamWaitEvent(a, event);
    if (run % 5 == 4) {
      EXPECT_EQ(read(y, 1, b)[0], run);
    }
  }
}

TEST_P(EmulatorTest, AGraphRepeatsItsArgumentsAndReadsMemoryAnew) {
  float *x = allocate(1), *y = allocate(2);
  float value = 3;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  launch(a, 1, 1, fill, y, value, 1);
  cudaMemcpyAsync(y + 1, x, sizeof(float), cudaMemcpyDeviceToDevice, a);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess) << "another stream";
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  EXPECT_TRUE(std::isnan(read(y, 2, a)[0])) << "recording runs nothing";
  for (const float run : {5.0f, 6.0f}) {
    value = run;
    launch(a, 1, 1, fill, x, run, 1);
    EXPECT_EQ(cudaGraphLaunch(executable, a), cudaSuccess);
    EXPECT_EQ(read(y, 2, a), (std::vector<float>{3, run}));
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_P(EmulatorTest, RecordingForbidsWaitingAndAllocating) {
  for (const bool wait : {true, false}) {
    cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
    void* memory = nullptr;
    EXPECT_EQ(wait ? cudaStreamSynchronize(a) : cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaErrorStreamCaptureInvalidated);
  }
}

TEST_P(EmulatorTest, AStreamThatJoinsARecordingHasToComeBack) {
  float* x = allocate(1);
  for (const bool back : {true, false}) {
    cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event);
    launch(b, 1, 1, fill, x, 1.0f, 1);
    cudaEventRecord(event, b);
    if (back) cudaStreamWaitEvent(a, event);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(a, &graph), back ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    if (graph) cudaGraphDestroy(graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EmulatorTest, testing::Range(1, 6));
INSTANTIATE_TEST_SUITE_P(Seeds, EmulatorDeathTest, testing::Values(1));

/// Over some seeds, what nobody ordered comes out both ways.
TEST(EmulatorSeeds, WithoutAnEventOrAWaitNumbersAreWrongSometimes) {
  std::set<float> copied, read_at_once;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    set_machine({.seed = seed});
    cudaStream_t a = nullptr, b = nullptr;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    void *from = nullptr, *to = nullptr, *host = nullptr;
    cudaMalloc(&from, 4), cudaMalloc(&to, 4), cudaMallocHost(&host, 4);
    cudaMemsetAsync(from, 0, 4, a);
    cudaMemcpyAsync(to, from, 4, cudaMemcpyDeviceToDevice, b);
    static_cast<float*>(host)[0] = -1;
    cudaMemcpyAsync(host, from, 4, cudaMemcpyDeviceToHost, a);
    read_at_once.insert(static_cast<float*>(host)[0]);
    cudaStreamSynchronize(b);
    cudaMemcpy(host, to, 4, cudaMemcpyDeviceToHost);
    copied.insert(std::isnan(static_cast<float*>(host)[0]) ? -1 : static_cast<float*>(host)[0]);
    cudaFree(from), cudaFree(to), cudaFreeHost(host);
    cudaStreamDestroy(a), cudaStreamDestroy(b);
  }
  EXPECT_EQ(copied, (std::set<float>{-1, 0}));
  EXPECT_EQ(read_at_once, (std::set<float>{-1, 0}));
}

}  // namespace
}  // namespace odori::emulator
