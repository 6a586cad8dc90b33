// SPDX-License-Identifier: Apache-2.0
// Ranks with emulated GPUs connect as with NCCL, and ncclCommInitRank names what they do wrong instead of waiting; in
// the operation log, collectives order them.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "backend/emulated/emulator.h"
#include "backend/emulated/operation_log.h"
#include "errors/error.h"

namespace odori::emulator {
namespace {

/// Runs `rank` in a process of its own for each of `n`, and returns what it printed for ncclGetLastError.
template <typename Rank>
std::string in_processes(int n, Rank rank) {
  int output[2];
  EXPECT_EQ(::pipe(output), 0);
  for (int i = 0; i < n; ++i) {
    if (::fork() != 0) continue;
    rank(i);
    const std::string error = std::string(ncclGetLastError(nullptr)) + "\n";
    ::_exit(::write(output[1], error.data(), error.size()) > 0 ? 0 : 1);
  }
  ::close(output[1]);
  std::string text;
  char buffer[256];
  for (ssize_t bytes; (bytes = ::read(output[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(bytes));
  ::close(output[0]);
  for (int i = 0; i < n; ++i) ::wait(nullptr);
  return text;
}

/// The errors of rank 0 and of rank 1 of two processes that call with these arguments.
std::string connect(std::array<int, 2> ranks, std::array<int, 2> sizes, std::array<int, 2> gpus, bool one_id = true) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  return in_processes(2, [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    set_machine({.gpus = 1, .physical = {gpus[k]}});
    if (!one_id) id.internal[1] = static_cast<char>('a' + i);
    ncclComm_t comm = nullptr;
    if (ncclCommInitRank(&comm, sizes[k], id, ranks[k]) == ncclSuccess) ncclCommDestroy(comm);
  });
}

TEST(NcclRanks, ConnectsRanksThatEachSeeOneGpu) {
  EXPECT_EQ(connect({0, 1}, {2, 2}, {0, 1}), "\n\n");
  EXPECT_NE(connect({0, 1}, {2, 2}, {1, 1}).find("Duplicate GPU"), std::string::npos);
}

TEST(NcclRanks, NamesAnIdThatWasNotMade) {
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, {}, 0), ncclInvalidArgument);
  EXPECT_NE(std::string(ncclGetLastError(nullptr)).find("the id is empty"), std::string::npos);
}

TEST(NcclRanks, CommunicatorsKnowTheirSizeAndRank) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comm = nullptr;
  ncclGroupStart();
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess) << "one in a group";
  EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidUsage) << "a second one";
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  int size = -1, rank = -1;
  EXPECT_EQ(ncclCommCount(comm, &size), ncclSuccess);
  EXPECT_EQ(ncclCommUserRank(comm, &rank), ncclSuccess);
  EXPECT_EQ(size, 1);
  EXPECT_EQ(rank, 0);
  ncclCommDestroy(comm);
}

TEST(NcclRanks, NamesWhatRanksDoWrong) {
  EXPECT_NE(connect({0, 0}, {2, 2}, {0, 1}).find("rank 0 of 2 has called 2 times with one id"), std::string::npos);
  EXPECT_NE(connect({0, 1}, {2, 3}, {0, 1}).find("calls with 3 ranks, rank 0 with 2"), std::string::npos);
  setenv("ODORI_EMULATED_NCCL_TIMEOUT", "3", 1);  // enough for both processes to call
  EXPECT_NE(connect({0, 1}, {3, 3}, {0, 1}).find("no call with this id from rank 2 of 3"), std::string::npos);
  setenv("ODORI_EMULATED_NCCL_TIMEOUT", "0.2", 1);
  EXPECT_NE(connect({0, 2}, {2, 2}, {0, 1}).find("rank 2 of 2 ranks"), std::string::npos);
  const std::string two_ids = connect({0, 1}, {2, 2}, {0, 1}, false);
  EXPECT_NE(two_ids.find("from rank 1 of 2"), std::string::npos);
  EXPECT_NE(two_ids.find("from rank 0 of 2"), std::string::npos);
  unsetenv("ODORI_EMULATED_NCCL_TIMEOUT");
}

/// The GPUs' PCI numbers count from 1.
TEST(NcclRanksDeathTest, CudaVisibleDevicesSelectsGpus) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which reads its environment
  setenv("ODORI_EMULATED_GPUS", "4", 1);
  const auto print = [] {
    int n = 0;
    cudaGetDeviceCount(&n);
    for (int gpu = 0; gpu < n; ++gpu) {
      char id[16];
      cudaDeviceGetPCIBusId(id, sizeof id, gpu);
      std::fprintf(stderr, "%c", id[6]);
    }
    std::fprintf(stderr, ".\n");
    std::exit(0);
  };
  const std::pair<const char*, const char*> expected[] = {
      {"3", "^4\\."}, {"2,0", "^31\\."}, {"1,7,0", "^2\\."}, {"", "^\\."}};
  for (const auto& [variable, numbers] : expected) {
    setenv("CUDA_VISIBLE_DEVICES", variable, 1);
    EXPECT_EXIT(print(), testing::ExitedWithCode(0), numbers) << variable;
  }
  unsetenv("CUDA_VISIBLE_DEVICES"), unsetenv("ODORI_EMULATED_GPUS");
}

LogEntry collective(int rank, int id, int number, std::vector<int> after) {
  static const float buffer = 0;
  return {.kind = OperationKind::collective,
          .name = "ncclAllReduce",
          .reads = {{&buffer, 4}},
          .writes = {{&buffer, 4}},
          .seconds = 1,
          .collective = CollectiveId{"c", number, rank, 2},
          .rank = rank,
          .id = id,
          .gpu = 0,
          .stream = 1,
          .position = id,
          .after = std::move(after)};
}

TEST(OperationGraph, OrdersRanksByCollectives) {
  const auto kernel = [](int rank, int id, double seconds, std::vector<int> after) {
    return LogEntry{
        .seconds = seconds, .rank = rank, .id = id, .gpu = 0, .stream = 1, .position = id, .after = std::move(after)};
  };
  const OperationGraph graph({kernel(1, 0, 5, {}), collective(1, 1, 1, {0}), kernel(0, 0, 2, {}),
                              collective(0, 1, 1, {0}), kernel(0, 2, 1, {1})});
  EXPECT_TRUE(graph.ordered(3, 2));   // rank 1's first kernel, rank 0's last
  EXPECT_FALSE(graph.ordered(3, 1));  // the collective of rank 0 may start before
  const std::vector<Interval> times = graph.timeline({});
  EXPECT_EQ(times[1].start, 2);
  EXPECT_EQ(times[1].end, 6);  // waits for rank 1
  EXPECT_EQ(times[2].start, 6);
  EXPECT_EQ(times[2].end, 7);
}

TEST(OperationGraph, CollectivesInDifferentOrdersAreAnError) {
  try {
    const OperationGraph graph(
        {collective(0, 0, 1, {}), collective(0, 1, 2, {0}), collective(1, 0, 2, {}), collective(1, 1, 1, {0})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("must queue the collectives of a stream in the same order"),
              std::string::npos);
  }
}
}  // namespace
}  // namespace odori::emulator
