// SPDX-License-Identifier: Apache-2.0
// The registry of communicators. Each algorithm's .cpp file defines one Algorithm object with its name, factory and
// cost formula. --help, error messages, tests, benchmarks, `compare` and `predict` read the list of these objects.
#pragma once

#include "comm/cost.h"
#include "comm/half_precision.h"
#include "comm/mpi_communicator.h"
#include "errors/error.h"

namespace odori {

/// An all-reduce made of point-to-point messages only, so it also runs on simulated ranks. Replaces `values` on every
/// rank by their mean over all ranks. The elements are fp32, or packed 16-bit ones that were divided by the number of
/// ranks before packing. `memory`: receive buffer, kept between calls.
using ByMessages = void (*)(std::span<float> values, Communicator& comm, Dtype dtype, std::vector<float>& memory);

class Algorithm {
 public:
  using Make = std::unique_ptr<Communicator> (*)();
  /// Predicted seconds of one all-reduce over two or more ranks. Returns nothing if the algorithm cannot run on the
  /// cluster.
  using Seconds = std::optional<double> (*)(const cost::Cluster& cluster, const cost::Gradients& gradients);
  enum class Takes { fp32, half_precision_too };
  /// Throws UsageError if this machine lacks what the algorithm needs.
  using Check = void (*)();

  /// Adds itself to the list. Define it as a constant at namespace scope, so that this happens when the library is
  /// loaded.
  Algorithm(const char* its_name, Make its_make, Seconds its_seconds, Takes takes = Takes::fp32,
            Check check = nullptr) noexcept;
  /// An algorithm made of messages, for fp32 and 16-bit elements.
  Algorithm(const char* its_name, ByMessages its_messages, Seconds its_seconds) noexcept;

  /// Creates a communicator over all MPI ranks of the job. Collective.
  std::unique_ptr<Communicator> create() const;
  /// Returns the algorithm as a function of any communicator. Throws Error unless the algorithm is made of messages.
  AllReduce all_reduce() const;

  const char* const name;
  const Seconds seconds;
  const Check check_machine;
  /// True if it can average 16-bit elements.
  const bool takes_half_precision;

  /// Throws UsageError, which lists the names, if `name` is not one of communicator_names().
  static const Algorithm& named(const std::string& name);
  static const Algorithm* find(const std::string& name);

 private:
  friend std::vector<std::string> communicator_names();
  const Make make_;               // null if made of messages
  const ByMessages by_messages_;  // null otherwise
  const Algorithm* next_;
};

/// The algorithm cannot run with these ranks, nodes or devices. Reports show the reason in both languages.
class CannotBeUsed : public UsageError {
 public:
  explicit CannotBeUsed(Text why) : UsageError(why), why_(std::move(why)) {}
  const Text& why() const noexcept { return why_; }

 private:
  Text why_;
};

template <typename Made>
std::unique_ptr<Communicator> make() {
  return std::make_unique<Made>();
}

// ---- Parts of cost formulas. All but between_nodes() return seconds; `bytes`: size of the vector.
namespace cost {

/// Ring all-reduce over all ranks.
double ring(const Cluster& cluster, double bytes);
/// All-reduce over all ranks by recursive halving and doubling.
double tree(const Cluster& cluster, double bytes);
/// The smaller of ring() and tree(), for all-reduces whose algorithm MPI or NCCL picks.
double faster(const Cluster& cluster, double bytes);
/// The cluster of one rank per node. Also models all L ranks of a node at once with 1/L of the vector each, since they
/// share one network card.
Cluster between_nodes(const Cluster& cluster);
/// Reduce to the first rank of each node, or broadcast from it, within the node.
double to_or_from_first(const Cluster& cluster, double bytes);
/// Reduce-scatter, or all-gather, within the node.
double halves(const Cluster& cluster, double bytes);
/// Cost of a vector sent in slices of slice_bytes, one after another. `slice(n)`: seconds of a slice of n bytes.
double in_slices(double bytes, const std::function<double(double)>& slice);

}  // namespace cost
}  // namespace odori
