// SPDX-License-Identifier: Apache-2.0
// Predicts the time of all-reduces and of training iterations. Each algorithm's formula is in its own .cpp file, built
// from the parts in algorithm.h. In exercise 06 learners write the ring's.
//
// A message of m bytes takes latency + m / bandwidth (the alpha-beta model: R. W. Hockney, 1994, "The communication
// challenge for MPP"). Neglected: additions, copies between GPU and host, other users of the network.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "comm/cost_terms.h"
#include "numbers/layer_cost.h"

namespace odori::cost {

struct Gradients {
  double bytes = 0;
  int arrays = 1;  // parameter tensors: `naive` averages one after another
};

/// Seconds of one all-reduce by this communicator's algorithm (README.md here has steps and bytes). Where MPI or NCCL
/// picks the algorithm: the faster of ring and tree, as for a simulated link (link.h). Returns nothing if the
/// communicator cannot run on the cluster. Throws UsageError if the name is not one of communicator_names().
///   ring: 2 (P-1) messages of E/P bytes (P. Patarasuk, X. Yuan, 2009, "Bandwidth optimal all-reduce algorithms")
///   tree: 2 log2 P messages of E/2, E/4, ... bytes, P a power of 2 (R. Thakur, R. Rabenseifner, W. Gropp, 2005,
///         "Optimization of collective communication operations in MPICH")
///   reduce and broadcast in a node, the faster of two: for short vectors a binomial tree, log2 L messages of E bytes
///         (the same paper); for long ones a pipeline along the ranks, E bytes and L-1 latencies, whose time is E /
///         bandwidth for any L, as NCCL's is (NVIDIA, nccl-tests, doc/PERFORMANCE.md). An MPI without pipelines sends
///         up to 2 E (L-1)/L instead.
std::optional<double> all_reduce(const std::string& communicator, const Cluster& cluster, const Gradients& gradients);

/// Fits a line through two measured iterations. Throws UsageError if the batches are
/// equal, or the larger one did not take longer.
Compute compute_from(const Measured& one, const Measured& other);
/// Scales a measurement to another network: the time per image is proportional to the floating-point operations per
/// image, not to the parameters.
Compute compute_of_other(const Compute& proxy, double proxys_operations, double operations);

/// How gradients are exchanged. Default: synchronously, in fp32.
struct Strategy {
  bool half = false;              // 16-bit elements in messages
  bool overlap = false;           // in buckets, each started as soon as backward has filled it
  bool double_buffering = false;  // during the next iteration; updates are one iteration late
};
/// Fraction of an iteration's compute spent in backward: it has two matrix products for each one of forward.
inline constexpr double backward_share = 2.0 / 3;
/// Default bucket size of PyTorch's DistributedDataParallel (S. Li et al., 2020, "PyTorch distributed: experiences on
/// accelerating data parallel training").
inline constexpr double bucket_bytes = 25 * 1024 * 1024;

struct Training {
  Compute compute;
  Gradients gradients;
  Cluster cluster;
  std::string communicator = "flat";
  Strategy strategy = {};
};

struct Iteration {
  double compute = 0, exchange = 0;
  double waited = 0;  // the part of the exchange that is not overlapped with compute
  double seconds() const { return compute + waited; }
};

/// Predicts one iteration, in seconds. `batch`: images per rank. Returns nothing if the communicator cannot run on the
/// cluster, or if it does not support Strategy::half.
std::optional<Iteration> iteration(const Training& training, double batch);

/// Strong scaling: returns the number of nodes, from 1 to `most`, at which an iteration with this global batch is
/// shortest. Each rank needs at least one image.
int best_nodes(Training training, double global_batch, int most);

// ---- Training state sharded over devices (ZeRO), and layers split over the devices of a node (tensor parallelism).
// Assumes ring collectives, as NCCL and MPI use for long vectors, without overlap; and that a sharded update takes as
// long as a full one, which Compute::fixed includes.

/// Bytes stored per trained element. Messages use the same sizes; an activation has the size of a parameter.
struct State {
  double parameter = 0, gradient = 0, optimizer = 0;
};
/// fp32; Adam keeps two moments.
inline constexpr State fp32_adam{4, 4, 8};
/// 16-bit parameters and gradients; Adam keeps an fp32 master copy of the parameters and two fp32 moments (P.
/// Micikevicius et al., 2018, "Mixed precision training").
inline constexpr State mixed_adam{2, 2, 12};

/// Peak bytes per device during an iteration, without gradients of activations, workspaces and fragmentation.
struct Memory {
  double parameters = 0, gradients = 0, optimizer = 0;
  double gathered = 0;  // layers in use: their parameters (ZeRO-3) and gradients (ZeRO-2 and 3)
  double activations = 0;
  double bytes() const { return parameters + gradients + optimizer + gathered + activations; }
};

/// Memory per device if the optimizer state (stage 1), the gradients too (2), or the parameters too (3) are sharded
/// over `devices` devices; 0: nothing is sharded. `batch`: images per device; 0 leaves out activations, which ZeRO does
/// not shard. Stages 2 and 3 hold the whole gradients of one layer at a time, stage 3 the whole parameters of two: the
/// one in use and the next. Throws UsageError for another stage. Source: S. Rajbhandari et al., 2020, "ZeRO: memory
/// optimizations toward training trillion parameter models", figure 1, which leaves out what is gathered.
Memory zero_memory(int stage, double devices, std::span<const LayerCost> layers, const State& state, double batch = 0);

/// Cost per device of a parallelization.
struct Split {
  Memory memory;
  double sent = 0;  // bytes per iteration
  Iteration iteration;
};

/// Data parallelism over all devices of the cluster, with ZeRO of this stage. `batch`: images per device. With E bytes
/// of parameters, E bytes of gradients and n devices, each device sends:
///   0      2 E (n-1)/n, an all-reduce of all gradients
///   1      2 E (n-1)/n, a reduce-scatter of all gradients, and after the update an all-gather of all parameters
///   2      the same, but a reduce-scatter for each layer, during backward
///   3      3 E (n-1)/n, an all-gather for each layer in forward and in backward, and stage 2's reduce-scatters
/// Uses the compute and the cluster of `training` alone. Throws UsageError for another stage.
/// Source: S. Rajbhandari et al., 2020, as above, section 7.
Split zero(int stage, const Training& training, std::span<const LayerCost> layers, const State& state, double batch);

/// Tensor parallelism within each node, data parallelism between nodes. `batch`: images per device, so a node computes
/// ranks_per_node * batch images. The first layer is replicated. The others are split in pairs: one by columns (output
/// channels), the next by rows (input channels); the vectors of the second are replicated. A last layer without a
/// partner is replicated. A pair all-reduces its output in forward, and the gradient of its input in backward.
/// Activations between the two layers of a pair are split. Returns nothing if there is no pair, or if a layer split by
/// columns has fewer channels than the node has devices. Uses only the compute and the cluster of `training`. Sources:
/// M. Shoeybi et al., 2019, "Megatron-LM: training multi-billion parameter language models using model parallelism";
/// activations: V. Korthikanti et al., 2022, "Reducing activation recomputation in large transformer models", section
/// 4.2.1, without its sequence parallelism.
std::optional<Split> tensor_parallel(const Training& training, std::span<const LayerCost> layers, const State& state,
                                     double batch);

/// Iterations per epoch; the last batch is filled up.
double iterations(double images, double batch);
/// The smallest batch whose epoch is at most a fraction `share` longer than the limit for large batches. An epoch takes
/// images * (fixed / batch + per_image).
double batch_where_gain_ends(const Compute& compute, double share);

/// Speedup on n devices if the fraction `serial` of one device's time is not parallel. G. M. Amdahl, 1967, "Validity of
/// the single processor approach to achieving large scale computing capabilities".
inline double amdahl(double serial, double n) { return 1 / (serial + (1 - serial) / n); }
/// The serial fraction that explains a measured speedup. A. Karp and H. Flatt, 1990, "Measuring parallel processor
/// performance".
inline double serial_share(double speedup, double n) { return (n / speedup - 1) / (n - 1); }

}  // namespace odori::cost
