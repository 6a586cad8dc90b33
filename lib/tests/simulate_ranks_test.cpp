// SPDX-License-Identifier: Apache-2.0
// The same functions on MPI ranks and on simulated ones: their results, messages and bytes, and their times over a
// simulated link. Runs under mpirun with 2, 3 and 4 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "backend/device_pool.h"
#include "comm/algorithm.h"
#include "comm/communicator.h"
#include "comm/cost_terms.h"
#include "on_nodes.h"
#include "sentence_of.h"
#include "simulate/simulated_communicator.h"

namespace odori {
namespace {

using simulate::SimulatedCommunicator;

const AllReduce ring = Algorithm::named("ring").all_reduce(), tree = Algorithm::named("tree").all_reduce();

/// All values to rank 0, from whichever rank sends first, and back.
void server(std::span<float> values, Communicator& comm) {
  if (comm.rank() > 0) {
    comm.send(values, 0);
    return comm.receive(values, 0);
  }
  std::vector<float> received(values.size());
  for (int other = 1; other < comm.size(); ++other) {
    EXPECT_GT(comm.receive_any(received), 0);
    std::ranges::transform(values, received, values.begin(), std::plus<>());
  }
  for (float& value : values) value /= static_cast<float>(comm.size());
  for (int other = 1; other < comm.size(); ++other) comm.send(values, other);
}

/// Of a rank, all of it small whole numbers, so that sums are exact in any order.
std::vector<float> values_of(int rank, std::size_t length) {
  std::vector<float> values(length);
  for (std::size_t i = 0; i < length; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 5) % 23);
  return values;
}

struct OfRank {
  std::vector<float> values;
  TrafficOfRank traffic;
};

OfRank simulated_rank(const AllReduce& function, const cost::Cluster& cluster, std::size_t length, int rank) {
  OfRank of;
  simulate::run(cluster, [&](simulate::Rank& one) {
    SimulatedCommunicator comm(one);
    std::vector<float> values = values_of(one.rank(), length);
    function(values, comm);
    EXPECT_EQ(comm.intra_rank() + comm.inter_rank() * comm.intra_size(), one.rank());
    if (one.rank() == rank) of = {values, comm.traffic()};
  });
  return of;
}

bool operator==(const Traffic& one, const Traffic& other) {
  return one.messages == other.messages && one.bytes == other.bytes;
}

class OnRanks : public testing::Test {
 protected:
  const int n_ = create_communicator("flat")->size();
};

TEST_F(OnRanks, ResultsMessagesAndBytesAreEqual) {
  for (const auto& [nodes, cluster] :
       {std::pair(nodes_of("0123", n_), cost::Cluster{.nodes = n_}),
        {nodes_of("0000", n_), cost::Cluster{.ranks_per_node = n_}},
        {nodes_of(n_ == 4 ? "0011" : "0123", n_),
         n_ == 4 ? cost::Cluster{.nodes = 2, .ranks_per_node = 2} : cost::Cluster{.nodes = n_}}})
    for (const AllReduce& function : {ring, tree, AllReduce(server)})
      for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{1001}}) {
        const OnNodes there(nodes);
        const auto comm = create_communicator(function, "tried");
        std::vector<float> values = values_of(comm->rank(), length);
        all_reduce_of (*comm)(values, *comm);
        const OfRank simulated = simulated_rank(function, cluster, length, comm->rank());
        EXPECT_EQ(simulated.values, values) << nodes << ", " << length;
        const TrafficOfRank &real = comm->traffic(), &imitated = simulated.traffic;
        EXPECT_TRUE(imitated.sent_within_node == real.sent_within_node) << nodes << ", " << length;
        EXPECT_TRUE(imitated.received_within_node == real.received_within_node) << nodes << ", " << length;
        EXPECT_TRUE(imitated.sent_to_other_nodes == real.sent_to_other_nodes) << nodes << ", " << length;
        EXPECT_TRUE(imitated.received_from_other_nodes == real.received_from_other_nodes) << nodes << ", " << length;
      }
}

TEST_F(OnRanks, TimesAreThoseOfASimulatedLink) {
  constexpr std::size_t length = 24'000;
  const std::string link = "2mbit,50ms";  // slow, so that a busy machine adds little
  const OnNodes there(nodes_of("0123", n_), link);
  const cost::Cluster cluster{.nodes = n_, .between = cost::Link{.latency = 0.05, .bandwidth = 2e6 / 8}};
  for (const auto& [name, function] : {std::pair("ring", ring), {"tree", tree}, {"server", AllReduce(server)}}) {
    const auto comm = create_communicator(function, name);
    const double expected = simulate::run(cluster, [&, &function = function](simulate::Rank& rank) {
                              SimulatedCommunicator simulated(rank);
                              std::vector<float> values(length);
                              function(values, simulated);
                            }).seconds;
    double best = 1e9;  // of several tries: a busy machine adds to each
    for (int i = 0; i < 10 && best > 1.1 * expected; ++i) {
      std::vector<float> values = values_of(comm->rank(), length);
      comm->barrier();
      const auto now = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
      };
      const double begin = now();
      function(values, *comm);
      const double end = now();
      const auto begins = comm->all_gather(begin), ends = comm->all_gather(end);
      best = std::min(best, *std::ranges::max_element(ends) - *std::ranges::min_element(begins));
    }
    EXPECT_GE(best, 0.9999 * expected) << name;
    EXPECT_LE(best, 1.1 * expected) << name;
    if (comm->rank() == 0) RecordProperty(std::string(name) + "_over_simulated", std::to_string(best / expected));
  }
}

TEST(SimulatedRanks, RefuseWhatIsNotSimulated) {
  EXPECT_SENTENCE(simulate::run({.nodes = 2}, [](simulate::Rank& rank) { SimulatedCommunicator(rank).group(); }),
                  "Rank 0: group: simulated ranks send messages alone");
  EXPECT_SENTENCE(Algorithm::named("hierarchical").all_reduce(), "hierarchical calls collectives of MPI");
  EXPECT_SENTENCE(all_reduce_of(*create_communicator("flat")), "flat has no all-reduce of its own");
}

}  // namespace
}  // namespace odori
