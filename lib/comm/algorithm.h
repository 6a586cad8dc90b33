// SPDX-License-Identifier: Apache-2.0
// What the kit knows of an algorithm: its name, how it is made, what it costs. All of it is in the algorithm's own
// file, and nowhere else: help, errors, tests, benchmarks, compare and predict read the list that these objects make.
#pragma once

#include "comm/cost.h"
#include "comm/half_precision.h"
#include "comm/mpi_communicator.h"
#include "errors/error.h"

namespace odori {

/// An all-reduce that sends messages alone, so that it runs on simulated ranks too. Replaces `values` on every rank by
/// their mean over all ranks: of fp32, or of packed 16-bit elements, which were divided before they were packed.
/// `memory`: for what arrives; kept from call to call.
using ByMessages = void (*)(std::span<float> values, Communicator& comm, Dtype dtype, std::vector<float>& memory);

class Algorithm {
 public:
  using Make = std::unique_ptr<Communicator> (*)();
  /// Seconds of one all-reduce over two ranks or more; nothing where it refuses the cluster.
  using Seconds = std::optional<double> (*)(const cost::Cluster& cluster, const cost::Gradients& gradients);
  enum class Takes { fp32, half_precision_too };
  /// Throws UsageError where this machine lacks what it needs.
  using Check = void (*)();

  /// Lists itself: constants of a file are made when the library is loaded.
  Algorithm(const char* its_name, Make its_make, Seconds its_seconds, Takes takes = Takes::fp32,
            Check check = nullptr) noexcept;
  /// One of messages, which takes 16-bit elements too.
  Algorithm(const char* its_name, ByMessages its_messages, Seconds its_seconds) noexcept;

  /// A communicator on MPI ranks. Collective.
  std::unique_ptr<Communicator> create() const;
  /// On the ranks of the communicator that it is called with. Throws Error if this algorithm calls MPI's or NCCL's
  /// collectives, whose messages are not its own.
  AllReduce all_reduce() const;

  const char* const name;
  const Seconds seconds;
  const Check check_machine;
  /// Does it add and divide by add() and divide() alone, or otherwise take 16-bit elements?
  const bool takes_half_precision;

  /// Throws UsageError, which says what there is, for a name that isn't one of communicator_names().
  static const Algorithm& named(const std::string& name);
  static const Algorithm* find(const std::string& name);

 private:
  friend std::vector<std::string> communicator_names();
  const Make make_;               // null for one of messages
  const ByMessages by_messages_;  // null for others
  const Algorithm* next_;
};

/// An algorithm can't be used here: with these ranks, nodes or devices. Pages say why in both languages.
class CannotBeUsed : public UsageError {
 public:
  CannotBeUsed(const std::string& sentence, std::string japanese)
      : UsageError(sentence), japanese_(std::move(japanese)) {}
  const std::string& japanese() const noexcept { return japanese_; }

 private:
  std::string japanese_;
};

template <typename Made>
std::unique_ptr<Communicator> make() {
  return std::make_unique<Made>();
}

// ---- Of what costs are made.
namespace cost {

/// All ranks, neighbours in turn.
double ring(const Cluster& cluster, double bytes);
/// Recursive halving and doubling, there and back.
double tree(const Cluster& cluster, double bytes);
/// Of the two: where MPI or NCCL picks.
double quicker(const Cluster& cluster, double bytes);
/// The first ranks of the nodes alone. What all ranks of a node send at once takes their one card as long.
Cluster between_nodes(const Cluster& cluster);
/// In the node: reduce to its first rank, or broadcast from there.
double to_or_from_first(const Cluster& cluster, double bytes);
/// In the node: reduce-scatter, or all-gather.
double halves(const Cluster& cluster, double bytes);
/// Of a vector that is cut into slices, `slice` being the seconds of one.
double in_slices(double bytes, const std::function<double(double)>& slice);

}  // namespace cost
}  // namespace odori
