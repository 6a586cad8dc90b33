// SPDX-License-Identifier: Apache-2.0
// What lies between the ranks of a communicator: nodes, a link that is simulated or none, and what is counted there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/link.h"
#include "comm/ranks.h"
#include "comm/steps.h"

namespace odori {

class Interconnect {
 public:
  /// Of all ranks of the job; collective over them. Nodes are host names or ODORI_NODES, the link is ODORI_LINK's where
  /// there are several; rank 0's variables hold for all. Throws Error, on every rank, where they can't be used.
  Interconnect();

  const Ranks& ranks() const { return ranks_; }
  int node(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& nodes() const { return nodes_; }  // of each rank
  /// Null: none is simulated.
  Link* link() const { return link_ ? &*link_ : nullptr; }

  /// Counted if this rank is one of the two.
  void count(int from, int to, std::int64_t messages, std::int64_t bytes);
  const TrafficOfRank& traffic() const { return traffic_; }

  /// For carry(): a message between two ranks, or the steps of a collective of these ranks.
  Load load(int from, int to, double bytes) const;
  Load load(const Steps& steps, const std::vector<int>& ranks) const;
  /// Of MPI's all-reduce of these ranks: over a link all_reduce_steps(), else those of the ring.
  std::vector<Steps> all_reduce(const std::vector<int>& ranks, double bytes) const;

 private:
  std::vector<int> nodes_of(const std::vector<int>& ranks) const;

  Ranks ranks_;
  std::vector<int> nodes_;
  mutable std::optional<Link> link_;  // its state is the cards', which all ranks share
  TrafficOfRank traffic_;
};

/// Throws Error on every rank unless all of them ask for the same communicator. Collective over all ranks of the job,
/// and the first thing that they say to each other: what follows is made for one algorithm.
void agree_on_communicator(const std::string& name);

}  // namespace odori
