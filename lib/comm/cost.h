// SPDX-License-Identifier: Apache-2.0
// What an all-reduce takes, and an iteration with it, by arithmetic alone. Each algorithm's formula is in its own
// file, of parts that algorithm.h has; exercise 06 has learners write the ring's.
//
// A message of m bytes takes latency + m / bandwidth (R. W. Hockney, 1994, "The communication challenge for MPP").
// Sums, copies between a GPU and its host, and other users of the network are not counted.
#pragma once

#include <optional>
#include <string>

#include "comm/cost_terms.h"

namespace odori::cost {

struct Gradients {
  double bytes = 0;
  int arrays = 1;  // parameters of the model: naive averages one after the other
};

/// Seconds of one all-reduce by this communicator's algorithm (README.md here has their steps and bytes). Where MPI or
/// NCCL picks the algorithm, the quicker of ring and tree, as a simulated link has it (link.h). Nothing where the
/// communicator refuses the cluster. Throws UsageError for a name that isn't one of communicator_names().
///   ring: 2 (P-1) messages of E/P bytes (P. Patarasuk, X. Yuan, 2009, "Bandwidth optimal all-reduce algorithms")
///   tree: 2 log2 P messages of E/2, E/4, ... bytes, P a power of 2 (R. Thakur, R. Rabenseifner, W. Gropp, 2005,
///         "Optimization of collective communication operations in MPICH")
///   reduce and broadcast in a node, the quicker of two: for short vectors a binomial tree, log2 L messages of E bytes
///         (the same paper); for long ones a pipeline along the ranks, E bytes and L-1 latencies, whose time is E /
///         bandwidth for any L, as NCCL's is (NVIDIA, nccl-tests, doc/PERFORMANCE.md). An MPI without pipelines sends
///         up to 2 E (L-1)/L instead.
std::optional<double> all_reduce(const std::string& communicator, const Cluster& cluster, const Gradients& gradients);

/// Through two measured iterations. Throws UsageError for two equal batches, and for times that don't grow.
Compute compute_from(const Measured& one, const Measured& other);
/// Of another network: an image takes time in proportion to its arithmetic (multiply-adds), not to the parameters.
Compute compute_of_other(const Compute& proxy, double proxys_operations, double operations);

/// How the gradients are communicated.
struct Way {
  bool half = false;              // as elements of 2 bytes
  bool overlap = false;           // in buckets, each on its way as soon as backward has filled it
  bool double_buffering = false;  // during the whole next iteration, which uses the mean before
};
/// Of an iteration's compute, 2/3 is backward: two products for each one of forward.
inline constexpr double backward_share = 2.0 / 3;
/// As PyTorch's DistributedDataParallel has it (S. Li et al., 2020, "PyTorch Distributed").
inline constexpr double bucket_bytes = 25 * 1024 * 1024;

struct Training {
  Compute compute;
  Gradients gradients;
  Cluster cluster;
  std::string communicator = "flat";
  Way way = {};
};

struct Iteration {
  double compute = 0, exchange = 0;
  double waited = 0;  // the part of the exchange that compute doesn't hide
  double seconds() const { return compute + waited; }
};

/// `batch`: images a rank. Nothing where the communicator refuses the cluster, or half precision.
std::optional<Iteration> iteration(const Training& training, double batch);

/// Strong scaling: one batch shared by more and more nodes, up to as many as there are images for. The number of them
/// at which an iteration takes least, and so more stop helping.
int best_nodes(Training training, double global_batch, int most);

/// Iterations of an epoch, the last batch filled up.
double iterations(double images, double batch);
/// The smallest batch whose epoch is at most `share` longer than any batch's could be, since `fixed` is paid once an
/// iteration: an epoch takes images * (fixed / batch + per_image).
double batch_where_gain_ends(const Compute& compute, double share);

/// G. M. Amdahl, 1967: of one device's time, `serial` (a fraction) does not change on n of them.
inline double amdahl(double serial, double n) { return 1 / (serial + (1 - serial) / n); }
/// The share that explains a measured speedup.
inline double serial_share(double speedup, double n) { return (n / speedup - 1) / (n - 1); }

}  // namespace odori::cost
