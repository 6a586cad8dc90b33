// SPDX-License-Identifier: Apache-2.0
// The messages of collectives, by the algorithms for long vectors in README.md here. MPI does not report which messages
// it sends; communication statistics and the simulated link use these instead.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace odori {

/// Messages from one rank of a group to another.
struct Hop {
  int from = 0, to = 0;
  std::int64_t messages = 0;
  double bytes = 0;  // of all messages together
};

struct Steps {
  std::vector<Hop> hops;
  int steps = 0;          // one after another; in each step all `hops` send
  bool pipeline = false;  // instead, the hops form a chain, and pass the elements on in parts
};

/// A ring: each rank sends bytes / n to the next one, n - 1 times per round. An all-reduce has two rounds; a
/// reduce-scatter or an all-gather has one. Source: see ring.cpp.
Steps ring_steps(int n, int rounds, double bytes);
/// An all-reduce by recursive halving and doubling. Source: see tree.cpp.
std::vector<Steps> tree_steps(int n, double bytes);
/// Calls `hop` for each message of its reduce-scatter half, step by step; `share`: fraction of the elements. The
/// all-gather half is the same in reverse.
void each_tree_hop(int n, const std::function<void(int step, int from, int to, double share)>& hop);
/// A pipeline along the ranks: broadcast from the root or, with `to_root`, reduce to it. Source: J. Pjesivac-Grbovic et
/// al., 2005, "Performance analysis of MPI collective operations".
Steps chain_steps(int n, int root, double bytes, bool to_root);
/// An all-to-all: each rank sends bytes / n to each other rank, in n - 1 steps.
Steps all_to_all_steps(int n, double bytes);
/// A scatter: the root sends bytes[r] to each other rank r, in one step.
Steps scatter_steps(int root, const std::vector<double>& bytes);

}  // namespace odori
