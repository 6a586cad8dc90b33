// SPDX-License-Identifier: Apache-2.0
// The trial of an all-reduce, and chunks of a vector.
#include "ring_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "comm/algorithm.h"
#include "errors/error.h"
#include "sentence_of.h"
#include "simulate_ring.h"
#include "tried_numbers.h"

namespace odori {
namespace {

/// Returns what rank 0 prints of a trial.
std::string tried(Communicator& comm, std::size_t length) {
  if (comm.rank() == 0) testing::internal::CaptureStdout();
  try_all_reduce(comm, length);
  return comm.rank() == 0 ? testing::internal::GetCapturedStdout() : "";
}

/// Sends all values to every other rank: correct, and slow.
void all_to_all(std::span<float> values, Communicator& comm) {
  const std::vector<float> mine(values.begin(), values.end());
  std::vector<float> theirs(values.size());
  for (int step = 1; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size(), from = (comm.rank() + comm.size() - step) % comm.size();
    comm.exchange(mine, to, theirs, from);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += theirs[i];
  }
  for (float& value : values) value *= 1.0f / static_cast<float>(comm.size());
}

TEST(TryAllReduce, FindsWrongValues) {
  const auto ring = create_communicator("ring");
  const int n_ranks = ring->size();
  for (const std::size_t n : {0, 1, 7, 1000, 100003}) {
    const std::string said = tried(*ring, n);
    const std::string right = fmt::format("Mean of {} numbers over {} ranks: right on every rank\n", n, n_ranks);
    EXPECT_TRUE(ring->rank() != 0 || said.starts_with(right)) << said;
  }
  const auto wrong = create_communicator(
      [](std::span<float> values, Communicator& comm) {
        all_to_all(values, comm);
        if (comm.rank() == comm.size() - 1) values[5] = std::nanf(""), std::swap(values[20], values[30]);
      },
      "wrong");
  const std::string said = tried(*wrong, 1000);
  if (ring->rank() == 0) {
    EXPECT_NE(said.find("WRONG\n"), std::string::npos) << said;
    EXPECT_NE(said.find(fmt::format("  3 numbers differ, on 1 of {} ranks; the first is number 5 of rank {}: nan",
                                    n_ranks, n_ranks - 1)),
              std::string::npos)
        << said;
  }
}

TEST(TriedNumbers, DifferByRankAndPosition) {
  int same_place = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    std::set<float> of_ranks;
    for (int rank = 0; rank < 8; ++rank) of_ranks.insert(tried_number(rank, i) / tried_unit(i));
    if (tried_alike(i))
      EXPECT_EQ(of_ranks.size(), 1u) << i;
    else
      EXPECT_EQ(of_ranks, (std::set<float>{1, 4, 16, 64, 256, 1024, 4096, 16384}));
    same_place += tried_number(0, i) == tried_number(0, i + 250) ? 1 : 0;
  }
  EXPECT_LT(same_place, 250);
}

TEST(SimulateIteration, FindsWrongValuesAndDeadlocks) {
  const cost::Link link{.latency = 1e-3, .bandwidth = 1e6};
  const auto simulated = [&](const AllReduce& all_reduce, int n, std::size_t length) {
    return simulate_iteration(all_reduce, {.nodes = n, .between = link}, length, 0.25, {});
  };
  for (const int n : {2, 3, 7, 64}) {
    const simulate::Result result = simulated(all_to_all, n, 100);
    EXPECT_NEAR(result.seconds, 0.25 + (n - 1) * link.message(400), 1e-9) << n;
    EXPECT_EQ(result.ranks.back().messages_sent, static_cast<std::size_t>(n - 1));
  }
  // At 1,000 ranks one rank's smallest value is 2^-21 of the sum.
  const auto all_but_the_first = [](std::span<float> values, Communicator& comm) {
    std::vector<double> sums(values.size());
    for (int rank = 1; rank < comm.size(); ++rank)
      for (std::size_t i = 0; i < values.size(); ++i) sums[i] += double{tried_number(rank, i)};
    std::transform(sums.begin(), sums.end(), values.begin(),
                   [&](double sum) { return static_cast<float>(sum / comm.size()); });
  };
  EXPECT_SENTENCE(simulated(all_but_the_first, 1000, 60), "Rank 0: The mean is WRONG: element ");
  const auto send_first = [](std::span<float> values, Communicator& comm) {
    comm.send(values, (comm.rank() + 1) % comm.size());
    comm.receive(values, (comm.rank() + comm.size() - 1) % comm.size());
  };
  EXPECT_SENTENCE(simulated(send_first, 1000, 1000), "Ranks 0-999 wait in send to rank + 1");
  ASSERT_EQ(::setenv("LC_ALL", "ja_JP.UTF-8", 1), 0);
  EXPECT_SENTENCE(simulated(all_but_the_first, 10, 60), "ランク 0: 平均が正しくありません。ランク 0 の要素 ");
  EXPECT_SENTENCE(simulated(send_first, 1000, 1000), "どれも先に進めません。ランク 0-999：rank + 1 への送信 (tag 0)。");
  ASSERT_EQ(::setenv("LC_ALL", "C.UTF-8", 1), 0);
}

TEST(SimulateIteration, ShortenedVectorsTakeTheTimeOfAllElements) {
  const cost::Link within{.latency = 2e-6, .bandwidth = 25e9}, between{.latency = 5e-6, .bandwidth = 12.5e9};
  const auto kits = [](const char* name) { return Algorithm::named(name).all_reduce(); };
  for (const auto& [name, all_reduce, few] :
       {std::tuple("ring", kits("ring"), 64), {"tree", kits("tree"), 64}, {"all_to_all", AllReduce(all_to_all), 1}})
    for (const auto [nodes, each] : {std::pair(1, 8), {2, 1}, {8, 4}, {8, 8}}) {
      constexpr std::size_t all = 64 * 101;
      const cost::Cluster cluster{.nodes = nodes, .ranks_per_node = each, .within = within, .between = between};
      const auto length = static_cast<std::size_t>(few);
      const double scale = static_cast<double>(all) / static_cast<double>(length);
      const simulate::Result whole = simulate_iteration(all_reduce, cluster, all, 0.01, {}),
                             shortened = simulate_iteration(all_reduce, cluster, length, 0.01, {.scale = scale});
      EXPECT_NEAR(shortened.seconds, whole.seconds, 1e-9 * whole.seconds) << name << ", " << nodes << " x " << each;
      for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
        const simulate::Totals &one = whole.ranks[rank], &other = shortened.ranks[rank];
        EXPECT_NEAR(other.communicating, one.communicating, 1e-9) << name << ", rank " << rank;
        EXPECT_NEAR(other.idle, one.idle, 1e-9) << name << ", rank " << rank;
        EXPECT_EQ(other.messages_sent, one.messages_sent) << name << ", rank " << rank;
        EXPECT_EQ(scale * static_cast<double>(other.bytes_sent), static_cast<double>(one.bytes_sent)) << name;
      }
    }
}

TEST(ChunkOf, LiesWithinTheVector) {
  std::vector<float> values(7);
  const BeginOfChunk even = [](std::size_t c, std::size_t n, std::size_t length) { return length * c / n; };
  EXPECT_EQ(chunk_of(values, 1, 3, even).data(), &values[2]);
  EXPECT_EQ(chunk_of(values, 2, 3, even).size(), 3u);
  EXPECT_THROW(chunk_of(values, 3, 3, even), Error);
  EXPECT_THROW(chunk_of(values, -1, 3, even), Error);
  EXPECT_THROW(chunk_of(values, 0, 3, [](std::size_t c, std::size_t, std::size_t) { return 8 * c; }), Error);
}

}  // namespace
}  // namespace odori
