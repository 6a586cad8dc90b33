// SPDX-License-Identifier: Apache-2.0
// What an all-reduce takes, and an iteration with it, by arithmetic alone. Each algorithm's formula is in its own
// file, of parts that algorithm.h has; exercise 06 has learners write the ring's.
//
// A message of m bytes takes latency + m / bandwidth (R. W. Hockney, 1994, "The communication challenge for MPP").
// Sums, copies between a GPU and its host, and other users of the network are not counted.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "comm/cost_terms.h"
#include "numbers/layer_cost.h"

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

// ---- Training state sharded over devices (ZeRO), and layers split over the devices of a node (tensor parallelism).
// Collectives are rings, as those of long vectors in NCCL and MPI, one after another, and none is hidden by compute. A
// sharded update takes as long as a whole one, which is in Compute::fixed.

/// Bytes per trained element that a device keeps. Parameters, gradients and activations are sent in the bytes that
/// they are kept in; an activation has those of a parameter.
struct State {
  double parameter = 0, gradient = 0, optimizer = 0;
};
/// All in fp32. Adam keeps two moments.
inline constexpr State fp32_adam{4, 4, 8};
/// Parameters and gradients of 16 bits; Adam keeps an fp32 copy of the parameters and two fp32 moments (P. Micikevicius
/// et al., 2018, "Mixed precision training").
inline constexpr State mixed_adam{2, 2, 12};

/// Bytes of a device at the peak of an iteration. Not counted: gradients of activations, workspaces, fragmentation.
struct Memory {
  double parameters = 0, gradients = 0, optimizer = 0;
  double gathered = 0;  // whole layers while they are used: parameters (ZeRO-3), gradients (ZeRO-2 and 3)
  double activations = 0;
  double bytes() const { return parameters + gradients + optimizer + gathered + activations; }
};

/// Memory of one of `devices` devices if the optimizer state (stage 1), also the gradients (2), also the parameters (3)
/// are sharded over them; 0: nothing is. `batch`: images a device; 0 leaves out activations, which ZeRO does not shard.
/// Stage 2 holds the gradients of one layer at a time, stage 3 also the parameters of two: the one in use and the next.
/// Throws UsageError for another stage.
/// Source: S. Rajbhandari et al., 2020, "ZeRO: memory optimizations toward training trillion parameter models",
/// figure 1, which leaves out what is gathered.
Memory zero_memory(int stage, double devices, std::span<const LayerCost> layers, const State& state, double batch = 0);

/// What splitting costs a device.
struct Split {
  Memory memory;
  double sent = 0;  // bytes in an iteration
  Iteration iteration;
};

/// Data parallelism over all devices of the cluster, with ZeRO of this stage. `batch`: images a device. With E bytes of
/// parameters, as many of gradients, and n devices, each sends:
///   0      2 E (n-1)/n, an all-reduce of all gradients
///   1      2 E (n-1)/n, a reduce-scatter of all gradients, and after the update an all-gather of all parameters
///   2      the same, but a reduce-scatter for each layer, during backward
///   3      3 E (n-1)/n, an all-gather for each layer in forward and in backward, and stage 2's reduce-scatters
/// Uses the compute and the cluster of `training` alone. Throws UsageError for another stage.
/// Source: S. Rajbhandari et al., 2020, as above, section 7.
Split zero(int stage, const Training& training, std::span<const LayerCost> layers, const State& state, double batch);

/// Tensor parallelism within each node, data parallelism between nodes, for the same images: `batch` for each device,
/// so each node computes ranks_per_node * batch images. The first layer is replicated. The others are split in pairs:
/// one by columns (output channels), the next one by rows (input channels), whose vectors are replicated. A last one
/// without a partner is replicated too. A pair needs an all-reduce of its output in forward, and of the gradient of its
/// input in backward. Activations between the two layers of a pair are split. Returns nothing if there is no pair, or
/// if a layer that is split by columns has fewer channels than the node has devices. Uses the compute and the cluster
/// of `training` alone. Sources: M. Shoeybi et al., 2019, "Megatron-LM: training multi-billion parameter language
/// models using model parallelism"; activations: V. Korthikanti et al., 2022, "Reducing activation recomputation in
/// large transformer models", section 4.2.1, without its sequence parallelism.
std::optional<Split> tensor_parallel(const Training& training, std::span<const LayerCost> layers, const State& state,
                                     double batch);

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
