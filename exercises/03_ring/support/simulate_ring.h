// SPDX-License-Identifier: Apache-2.0
// The learner's all-reduce on up to 1,024 simulated ranks. No program includes it.
#pragma once

#include "comm/communicator.h"
#include "simulate/simulate.h"

namespace odori {

/// The curves of the report, in this order.
enum class RingCurve : std::size_t { learners, kits_ring, kits_tree, ring_formula };

/// Runs the function of `comm`, which create_communicator(all_reduce, name) made, on the clusters that ./odori simulate
/// asks for, and writes a report. Returns false if no simulation is asked for. Throws Error if a mean is wrong, or
/// ranks wait for each other.
bool simulate_if_asked(const Communicator& comm);

/// A simulated iteration: every rank computes for `seconds`, and then averages `length` known values (tried_numbers.h)
/// by `all_reduce`. Throws Error if an element of a mean is wrong.
simulate::Result simulate_iteration(const AllReduce& all_reduce, const cost::Cluster& cluster, std::size_t length,
                                    double seconds, const simulate::Options& options);

}  // namespace odori
