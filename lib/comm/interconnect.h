// SPDX-License-Identifier: Apache-2.0
// The nodes of a communicator's ranks, the simulated link between them, if any, and communication statistics.
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
  /// For all ranks of the job. Nodes come from host names or ODORI_NODES. ODORI_LINK sets the link if there are several
  /// nodes. Rank 0's variables apply to all ranks. Throws Error on every rank if they cannot be used. Collective.
  Interconnect();

  const Ranks& ranks() const { return ranks_; }
  int node(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& nodes() const { return nodes_; }  // node of each rank
  /// Null: no simulated link.
  Link* link() const { return link_ ? &*link_ : nullptr; }

  /// Adds messages to traffic() if this rank is one of the two.
  void count(int from, int to, std::int64_t messages, std::int64_t bytes);
  const TrafficOfRank& traffic() const { return traffic_; }

  /// The load for Link::carry() of a message between two ranks, or of the equal steps of a collective of these ranks.
  Load load(int from, int to, double bytes) const;
  Load load(const Steps& steps, const std::vector<int>& ranks) const;
  /// The steps that an MPI all-reduce of these ranks counts as: all_reduce_steps() over a simulated link, otherwise the
  /// ring's.
  std::vector<Steps> all_reduce(const std::vector<int>& ranks, double bytes) const;

 private:
  std::vector<int> nodes_of(const std::vector<int>& ranks) const;

  Ranks ranks_;
  std::vector<int> nodes_;
  mutable std::optional<Link> link_;  // its state is in memory that all ranks share
  TrafficOfRank traffic_;
};

/// Throws Error on every rank unless all of them ask for the same communicator. Call it before anything that depends on
/// the algorithm. Collective over all ranks of the job.
void agree_on_communicator(const std::string& name);

}  // namespace odori
