// SPDX-License-Identifier: Apache-2.0
// The operation log of emulated GPUs finds missing events in each run, whatever order the streams ran in.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <array>
#include <fstream>
#include <set>
#include <vector>

#include "backend/emulated/emulator.h"
#include "backend/emulated/operation_recorder.h"
#include "errors/error.h"

namespace odori::emulator {
namespace {

using Pair = std::pair<std::string, std::string>;

__global__ void fill(float* to, float value) { *to = value; }
__global__ void add(float* to, const float* from) { *to += *from; }

/// A machine with a log, two streams on GPU 0, and a few floats on each GPU and in pinned memory.
class OperationLogTest : public testing::Test {
 protected:
  OperationLogTest() { start(1); }
  ~OperationLogTest() override { stop(); }

  void start(std::uint64_t seed, unsigned int flags = cudaStreamNonBlocking) {
    set_machine({.gpus = 2, .seed = seed});
    for (const std::size_t gpu : {0, 1}) {
      cudaSetDevice(static_cast<int>(gpu));
      cudaStreamCreateWithFlags(&on_gpu[gpu], flags);
      cudaMalloc(reinterpret_cast<void**>(&memory[gpu]), 4 * sizeof(float));
    }
    cudaSetDevice(0);
    a = on_gpu[0], x = memory[0], y = x + 1;
    cudaStreamCreateWithFlags(&b, flags);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMallocHost(reinterpret_cast<void**>(&pinned), sizeof(float));
    start_log();
  }
  void stop() {
    stop_log();
    cudaFreeHost(pinned);
    for (float* of_gpu : memory) cudaFree(of_gpu);
    cudaEventDestroy(event);
    for (const cudaStream_t stream : {on_gpu[0], on_gpu[1], b}) cudaStreamDestroy(stream);
    set_machine({});
  }

  template <typename... Parameters, typename... Arguments>
  void launch(cudaStream_t stream, const Annotation& annotation, void (*kernel)(Parameters...),
              Arguments... arguments) {
    annotate(annotation);
    cudaLaunchConfig_t config;
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
  }
  void write(cudaStream_t stream, const char* name, float* to, float value = 1, double seconds = 0) {
    launch(stream, {.name = name, .writes = {{to, sizeof *to}}, .seconds = seconds}, fill, to, value);
  }
  void update(cudaStream_t stream, const char* name, float* to, const float* from, double seconds = 0) {
    launch(stream, {.name = name, .reads = {{from, sizeof *from}}, .writes = {{to, sizeof *to}}, .seconds = seconds},
           add, to, from);
  }
  void read_on_host(const char* name = "host") { log_host_access({.name = name, .reads = {{pinned, sizeof *pinned}}}); }

  static std::vector<Pair> names(const OperationGraph& graph) {
    std::vector<Pair> pairs;
    for (const Conflict& c : graph.conflicts())
      pairs.emplace_back(graph.entries()[c.first].name, graph.entries()[c.second].name);
    return pairs;
  }
  static std::vector<Pair> conflicts() { return names(OperationGraph(stop_log())); }
  static std::size_t find(const OperationGraph& graph, const std::string& name) {
    for (std::size_t i = 0; i < graph.entries().size(); ++i)
      if (graph.entries()[i].name == name) return i;
    ADD_FAILURE() << "no operation " << name;
    return 0;
  }

  std::array<cudaStream_t, 2> on_gpu{};
  std::array<float*, 2> memory{};
  cudaStream_t a = nullptr, b = nullptr;  // of GPU 0
  cudaEvent_t event = nullptr;
  float *x = nullptr, *y = nullptr;  // on GPU 0
  float* pinned = nullptr;
};

/// Two iterations of backward on one stream and an update on another: the update must wait for the gradient.
TEST_F(OperationLogTest, FindsAMissingEventWhateverOrderTheStreamsRanIn) {
  for (const bool with_event : {false, true}) {
    std::set<float> results;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      stop(), start(seed);
      write(a, "first gradient", x, 0), write(b, "weights", y, 0);
      cudaDeviceSynchronize();
      for (const float gradient : {1.0f, 10.0f}) {
        write(a, "backward", x, gradient);
        cudaEventRecord(event, a);
        if (with_event) cudaStreamWaitEvent(b, event);
        update(b, "update", y, x);
        cudaStreamSynchronize(a), cudaStreamSynchronize(b);
      }
      float result = 0;
      cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost);
      results.insert(result);
      const OperationGraph graph(stop_log());
      if (with_event) {
        EXPECT_TRUE(names(graph).empty()) << seed;
        continue;
      }
      ASSERT_EQ(names(graph), (std::vector<Pair>(2, {"backward", "update"}))) << seed;
      const Conflict conflict = graph.conflicts()[0];
      EXPECT_EQ(conflict.missing, Missing::event);
      EXPECT_EQ(conflict.overlap, MemoryRange(x, sizeof *x));
      EXPECT_EQ(graph.entries()[conflict.first].stream, stream_number(a));
      EXPECT_EQ(graph.entries()[conflict.second].stream, stream_number(b));
    }
    EXPECT_EQ(results.contains(11), true);
    EXPECT_EQ(results.size() > 1, !with_event);  // the streams ran in both orders
  }
}

TEST_F(OperationLogTest, ReportsWhyAnEventDoesNotOrder) {
  cudaStreamWaitEvent(b, event);
  write(a, "first", x), write(b, "not recorded", x);
  OperationGraph graph(stop_log());
  ASSERT_EQ(names(graph).size(), 1U);
  EXPECT_EQ(graph.conflicts()[0].missing, Missing::event);  // b waits before `first` is queued

  start_log();
  write(a, "first", x);
  cudaStreamWaitEvent(b, event);
  write(b, "not recorded", x);
  graph = OperationGraph(stop_log());
  ASSERT_EQ(names(graph).size(), 1U);
  EXPECT_EQ(graph.conflicts()[0].missing, Missing::event_record);

  start_log();
  cudaEventRecord(event, a);
  write(a, "first", x);
  cudaStreamWaitEvent(b, event);
  write(b, "too early", x);
  graph = OperationGraph(stop_log());
  ASSERT_EQ(names(graph).size(), 1U);
  EXPECT_EQ(graph.conflicts()[0].missing, Missing::later_record);
}

/// An event holds what was recorded last when cudaStreamWaitEvent was called.
TEST_F(OperationLogTest, AWaitIsForTheRecordingBeforeIt) {
  write(a, "old", x);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event);
  write(a, "new", y);
  cudaEventRecord(event, a);
  write(b, "x", x), write(b, "y", y);
  EXPECT_EQ(conflicts(), (std::vector<Pair>{{"new", "y"}}));
}

TEST_F(OperationLogTest, TheDefaultStreamOrdersBlockingStreamsAlone) {
  for (const bool blocking : {true, false}) {
    stop(), start(1, blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    write(a, "before", x), write(nullptr, "default", x), write(b, "after", x);
    EXPECT_EQ(conflicts(), blocking
                               ? std::vector<Pair>{}
                               : (std::vector<Pair>{{"before", "default"}, {"before", "after"}, {"default", "after"}}));
    start_log();
    write(a, "a", x), write(b, "b", x);  // nothing is queued on the default stream between them
    EXPECT_EQ(conflicts(), (std::vector<Pair>{{"a", "b"}}));
    start_log();
    cudaMemset(x, 0, sizeof *x);  // does not block the host
    write(a, "after", x);
    EXPECT_EQ(conflicts(), blocking ? std::vector<Pair>{} : (std::vector<Pair>{{"cudaMemset", "after"}}));
  }
}

TEST_F(OperationLogTest, TheDefaultStreamIsOneOfItsGpu) {
  stop(), start(1, cudaStreamDefault);
  write(nullptr, "gpu 0", x);
  cudaSetDevice(1);
  write(on_gpu[1], "gpu 1", x);
  cudaSetDevice(0);
  EXPECT_EQ(conflicts(), (std::vector<Pair>{{"gpu 0", "gpu 1"}}));
}

TEST_F(OperationLogTest, WaitsOfTheHostOrder) {
  const auto copy = [&] {
    write(a, "loss", x);
    cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, a);
    cudaEventRecord(event, a);
  };
  const auto expect = [&](auto wait, bool ordered) {
    start_log();
    copy();
    wait();
    read_on_host();
    const OperationGraph graph(stop_log());
    EXPECT_EQ(names(graph), ordered ? std::vector<Pair>{} : (std::vector<Pair>{{"cudaMemcpyAsync", "host"}}));
    for (const Conflict& conflict : graph.conflicts()) EXPECT_EQ(conflict.missing, Missing::host_wait);
  };
  float pageable = 0;
  expect([] {}, false);
  expect([&] { cudaStreamSynchronize(b); }, false);
  expect([&] { cudaStreamSynchronize(a); }, true);
  expect([&] { cudaEventSynchronize(event); }, true);
  expect(
      [&] {
        while (cudaEventQuery(event) != cudaSuccess) continue;
      },
      true);
  expect(
      [&] {
        while (cudaStreamQuery(a) != cudaSuccess) continue;
      },
      true);
  expect([] { cudaDeviceSynchronize(); }, true);
  expect([] { cudaSetDevice(1), cudaDeviceSynchronize(), cudaSetDevice(0); }, false);
  expect([&] { cudaMemcpyAsync(&pageable, x, sizeof *x, cudaMemcpyDeviceToHost, a); }, true);
  expect([&] { cudaMemcpy(&pageable, y, sizeof *y, cudaMemcpyDeviceToHost); }, false);  // a does not block
}

// CUDA runtime API, "API synchronization behavior": a copy within device memory does not wait on the host's side.
TEST_F(OperationLogTest, ACopyWithinAGpuIsOrderedAsTheDefaultStreamAndDoesNotBlockTheHost) {
  for (const unsigned int flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    stop(), start(1, flags);
    write(a, "before", x);
    cudaMemcpy(y, x, sizeof *x, cudaMemcpyDeviceToDevice);
    write(a, "after", y);
    EXPECT_EQ(conflicts(), flags == cudaStreamDefault
                               ? std::vector<Pair>{}
                               : (std::vector<Pair>{{"before", "cudaMemcpy"}, {"cudaMemcpy", "after"}}));
  }
  for (const bool within : {true, false}) {
    start_log();
    cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, nullptr);
    float pageable = 0;
    cudaMemcpy(within ? y : &pageable, x, sizeof *x, within ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost);
    read_on_host();
    EXPECT_EQ(conflicts(), within ? (std::vector<Pair>{{"cudaMemcpyAsync", "host"}}) : std::vector<Pair>{});
  }
}

TEST_F(OperationLogTest, FreedMemoryIsWrittenAfterItsGpu) {
  void* other = nullptr;
  cudaMalloc(&other, 4);
  cudaMemsetAsync(other, 0, 4, a);
  cudaMemsetAsync(other, 0, 4, on_gpu[1]);
  cudaFree(other);
  EXPECT_EQ(conflicts(), (std::vector<Pair>{{"cudaMemsetAsync", "cudaMemsetAsync"}, {"cudaMemsetAsync", "cudaFree"}}));
}

TEST_F(OperationLogTest, AGraphIsOneOperation) {
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t graph = nullptr;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  write(a, "captured", x, 1, 2.0), update(a, "captured too", y, x, 3.0);
  cudaStreamEndCapture(a, &captured);
  cudaGraphInstantiate(&graph, captured);
  cudaGraphLaunch(graph, a);
  write(b, "b", y);
  const OperationGraph operations(stop_log());
  EXPECT_EQ(names(operations), (std::vector<Pair>{{"cudaGraphLaunch", "b"}}));
  EXPECT_EQ(operations.timeline({})[0].end, 5.0);
  cudaGraphDestroy(captured), cudaGraphExecDestroy(graph);
}

/// Broadcast from GPU 0: GPU 1 receives after GPU 0 has reached it. GPU 0 does not wait for GPU 1.
TEST_F(OperationLogTest, ACollectiveOrdersItsMembers) {
  ncclComm_t comms[2];
  const int gpus[2] = {0, 1};
  ASSERT_EQ(ncclCommInitAll(comms, 2, gpus), ncclSuccess);
  float* const z = memory[1];
  const auto on = [&](std::size_t gpu, const char* name, float* to) {
    cudaSetDevice(static_cast<int>(gpu));
    write(on_gpu[gpu], name, to);
  };
  on(0, "0 before", x), on(1, "1 before", z + 1);
  ncclGroupStart();
  for (const std::size_t gpu : {0, 1})
    ncclBroadcast(memory[gpu], memory[gpu], 1, ncclFloat, 0, comms[gpu], on_gpu[gpu]);
  ncclGroupEnd();
  on(0, "0 after", x), on(1, "1 after", z);
  const OperationGraph graph(stop_log());
  EXPECT_TRUE(graph.ordered(find(graph, "0 before"), find(graph, "1 after")));
  EXPECT_FALSE(graph.ordered(find(graph, "1 before"), find(graph, "0 after")));
  EXPECT_FALSE(graph.ordered(find(graph, "1 after"), find(graph, "0 before")));
  const LogEntry& root = graph.entries()[find(graph, "ncclBroadcast")];
  EXPECT_EQ(root.reads, std::vector{MemoryRange(x, 4)});
  EXPECT_EQ(root.collective->size, 2);
  EXPECT_TRUE(names(graph).empty());

  // What is recorded inside a group precedes its collectives.
  start_log();
  ncclGroupStart();
  for (const std::size_t gpu : {0, 1})
    ncclAllReduce(memory[gpu], memory[gpu], 1, ncclFloat, ncclSum, comms[gpu], on_gpu[gpu]);
  cudaEventRecord(event, a);
  ncclGroupEnd();
  cudaSetDevice(0);
  cudaStreamWaitEvent(b, event);
  write(b, "update", x);
  EXPECT_EQ(conflicts(), (std::vector<Pair>{{"ncclAllReduce", "update"}}));
  for (const ncclComm_t comm : comms) ncclCommDestroy(comm);
}

/// Two layers: backward takes 2 s and 3 s, the all-reduces (here copies of 4 bytes at 1 byte/s) 4 s each.
TEST_F(OperationLogTest, VirtualTimeShowsTheOverlap) {
  for (const bool one_event : {false, true}) {
    start_log();
    const auto reduce = [&](float* gradient) {
      cudaEventRecord(event, a);
      cudaStreamWaitEvent(b, event);
      annotate({.name = "exchange"});
      cudaMemcpyAsync(gradient + 2, gradient, sizeof *gradient, cudaMemcpyDeviceToDevice, b);
    };
    write(a, "backward 1", x, 1, 2.0);
    if (!one_event) reduce(x);
    write(a, "backward 0", y, 1, 3.0);
    if (one_event) reduce(x);
    reduce(y);
    const OperationGraph graph(stop_log());
    const std::vector<Interval> times = graph.timeline({.copy = 1});
    EXPECT_EQ(times[find(graph, "backward 0")].start, 2);
    EXPECT_EQ(times[find(graph, "exchange")].start, one_event ? 5 : 2);
    EXPECT_EQ(times.back().end, one_event ? 13 : 10);
    EXPECT_TRUE(names(graph).empty());
  }
}

TEST_F(OperationLogTest, AFileHoldsTheSameEntries) {
  const std::filesystem::path path = testing::TempDir() + "/operations.jsonl";
  start_log(3, path);
  write(a, "\"quoted\" \xff", x, 1, 0.25);
  cudaEventRecord(event, a), cudaStreamWaitEvent(b, event);
  cudaMemcpyAsync(pinned, x, sizeof *x, cudaMemcpyDeviceToHost, b);
  read_on_host("host");
  const LogEntry of_rank_3{.kind = OperationKind::collective,
                           .name = "ncclAllReduce",
                           .collective = CollectiveId{"c", 1, 3, 2},
                           .rank = 3,
                           .id = 9,
                           .gpu = 0,
                           .stream = 1,
                           .position = 9,
                           .after = {8}};
  std::ofstream(path, std::ios::app) << to_json(of_rank_3) << "\n{\"kind\": \"ker";  // killed while it writes
  std::vector<LogEntry> expected = stop_log();
  expected[0].name = "\"quoted\" \xef\xbf\xbd";  // what is no UTF-8 is replaced
  expected.push_back(of_rank_3);
  EXPECT_EQ(read_log(std::vector{path}), expected);
  EXPECT_EQ(expected[0].rank, 3);
  EXPECT_EQ(expected[2].awaited, 1);
  EXPECT_EQ(expected[2].after, std::vector{1});
  std::ofstream(path) << "{}\n";
  EXPECT_THROW(read_log(std::vector{path}), Error);
  EXPECT_THROW(read_log(std::vector{path / "none"}), Error);
}

TEST_F(OperationLogTest, IsOffAtFirst) {
  stop_log();
  write(a, "a", x);
  EXPECT_TRUE(stop_log().empty());
  start_log();
  write(a, "b", x);
  EXPECT_EQ(stop_log().size(), 1U);
}

}  // namespace
}  // namespace odori::emulator
