// SPDX-License-Identifier: Apache-2.0
// Simulates a network: with ODORI_LINK=1gbit,50us, messages between nodes take as long as over a link of this speed. So
// one machine that plays several nodes shows the cost of communication.
//
// The ranks of a node share one network card. It sends one message at a time and receives one at a time, each for bytes
// / bandwidth. The message arrives one latency later, and the card is free meanwhile. This models one switch between
// all nodes, as the formulas in cost.h do. A message starts when its send and its receive have both been called, in
// this order.
// Nothing is added within a node.
//
// MPI does not report the messages of its collectives, so these are charged as known algorithms (steps.h); an
// all-reduce as the faster of ring and tree, as cost.h predicts it. Equal steps are charged together: the bytes of the
// busiest card / bandwidth, and one latency per step.
//
// Delays, and waits for other ranks, are sleeps, so cores are free as with a real card. The data is copied through
// memory meanwhile. The longer of delay and copy counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/cost_terms.h"
#include "comm/steps.h"

namespace odori {

/// Bytes that one operation puts on the network cards of the nodes.
struct Load {
  explicit Load(std::size_t nodes) : out(nodes), in(nodes) {}
  /// Adds a message; does nothing if both nodes are the same.
  void add(int from_node, int to_node, double bytes);
  double busiest() const;  // the most bytes that one card sends or receives
  /// Duration if all cards are free.
  double seconds(const cost::Link& speed) const;
  std::vector<double> out, in;  // bytes per node
  int latencies = 0;            // number of latencies, one after another
};

/// The load of a collective's steps. `nodes_of_ranks[i]`: the node of the group's rank i.
Load load_of(const Steps& steps, const std::vector<int>& nodes_of_ranks, int nodes);
/// The steps that an MPI all-reduce is charged as: the faster of ring and tree.
std::vector<Steps> all_reduce_steps(double bytes, const std::vector<int>& nodes_of_ranks, int nodes,
                                    const cost::Link& speed);

/// The network cards of all nodes, in shared memory.
class Link {
 public:
  using Time = std::int64_t;  // nanoseconds of CLOCK_MONOTONIC, the same clock on all ranks
  static Time now();

  /// Collective over all ranks of the job, which must be on one machine.
  Link(const cost::Link& speed, int nodes);

  const cost::Link& speed() const { return speed_; }
  /// Occupies the cards with the load from time `there`, or from when they are free. Returns the time of arrival.
  Time carry(const Load& load, Time there);
  static void sleep_until(Time time);

 private:
  struct Cards;
  cost::Link speed_;
  std::shared_ptr<Cards> cards_;
};

/// A transfer over the simulated link: the destructor sleeps until its arrival.
class Passage {
 public:
  explicit Passage(Link::Time arrival = 0) : arrival_(arrival) {}
  ~Passage() { Link::sleep_until(arrival_); }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  Link::Time arrival_;
};

}  // namespace odori
