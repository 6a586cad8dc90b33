// SPDX-License-Identifier: Apache-2.0
// A network that isn't there: ODORI_LINK=1gbit,50us makes what goes from one node to another take as long as over a
// link of this speed, so that one machine that plays several nodes shows what communication costs.
//
// A node's ranks share its network card. The card sends one message at a time and receives one at a time, each for
// bytes / bandwidth; the message is there a latency later, during which the card is free for the next. That is the
// model of the formulas in README.md here, and what one switch between all nodes comes to. A message goes when both
// sides are there, in the order in which they are. Within a node nothing is added.
//
// MPI's own collectives send messages that nobody here can see. They are charged as algorithms of which that is known
// (steps.h), an all-reduce as the quicker of ring and tree, which is what cost.h predicts as well: all bytes of a step
// at once, or of several like it, which takes the bytes of the busiest card / bandwidth, and one latency per step.
//
// The delay is a sleep, so cores are free as with a real card. So do waits for a rank that isn't there yet.
// Meanwhile the elements are copied through this machine's memory; where that takes longer than the link would, it
// counts.
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
  /// Nothing within a node.
  void add(int from_node, int to_node, double bytes);
  double busiest() const;  // bytes of a card
  /// With all cards free.
  double seconds(const cost::Link& speed) const;
  std::vector<double> out, in;  // bytes, by node
  int latencies = 0;            // one after another
};

/// The steps of a collective of ranks on these nodes.
Load load_of(const Steps& steps, const std::vector<int>& nodes_of_ranks, int nodes);
/// An all-reduce of them for which MPI picks the algorithm: the quicker of ring and tree.
std::vector<Steps> all_reduce_steps(double bytes, const std::vector<int>& nodes_of_ranks, int nodes,
                                    const cost::Link& speed);

/// The cards of all nodes, in memory that the ranks share.
class Link {
 public:
  using Time = std::int64_t;  // nanoseconds of a clock that all ranks share
  static Time now();

  /// Collective over all ranks of the job, which have to be on one machine.
  Link(const cost::Link& speed, int nodes);

  const cost::Link& speed() const { return speed_; }
  /// Occupies the cards with the load, from the time `there` on or as soon as they are free. Returns when all of it
  /// will have arrived.
  Time carry(const Load& load, Time there);
  static void sleep_until(Time time);

 private:
  struct Cards;
  cost::Link speed_;
  std::shared_ptr<Cards> cards_;
};

/// What is on its way while this object lives.
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
