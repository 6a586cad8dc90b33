// SPDX-License-Identifier: Apache-2.0
// The messages of collectives, by the algorithms for long vectors that README.md here names. MPI, which picks its own,
// doesn't tell; so its collectives are counted, and charged by a simulated link, as these.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace odori {

/// Between two of a group's ranks, by their place in it.
struct Hop {
  int from = 0, to = 0;
  std::int64_t messages = 0;
  double bytes = 0;  // of all of them
};

struct Steps {
  std::vector<Hop> hops;
  int steps = 0;          // one after another, each of them between all pairs of `hops`
  bool pipeline = false;  // the hops come one after another instead, each for a part of the elements at a time
};

/// Each rank sends to the next one, n - 1 times per round, the n-th part of `bytes`. All-reduce: two rounds;
/// reduce-scatter and all-gather: one. Source: see ring.cpp.
Steps ring_steps(int n, int rounds, double bytes);
/// Recursive halving and doubling, one step after another. Source: see tree.cpp.
std::vector<Steps> tree_steps(int n, double bytes);
/// Its messages on the way there, step by step: `hop(step, from, to, share)`, a share of the elements. The way back is
/// the same, backwards.
void each_tree_hop(int n, const std::function<void(int step, int from, int to, double share)>& hop);
/// From the root from rank to rank in parts that follow each other, or to it: broadcast and reduce.
/// Source: J. Pjesivac-Grbovic et al., 2005, "Performance analysis of MPI collective operations" (pipeline).
Steps chain_steps(int n, int root, double bytes, bool to_root);
/// Each rank sends each other one the n-th part of `bytes`, in n - 1 steps.
Steps all_to_all_steps(int n, double bytes);
/// The root sends each other one its part, at once.
Steps scatter_steps(int root, const std::vector<double>& bytes);

}  // namespace odori
