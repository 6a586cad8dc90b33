// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 05: the base class of the learner's exchange strategies, and tests and training runs with
// them.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "comm/communicator.h"
#include "distributed/exchange/strategy.h"
#include "flags/arguments.h"
#include "numbers/dtype.h"

namespace odori {

/// An ExchangeStrategy (distributed/exchange/strategy.h) whose gradients are spans of host memory, so that it works on
/// CPU devices only. A derived class communicates by start(), wait(), average() and sum_in(). on_gradient_ready() is
/// called during backward, for the last layer first. finish() decides whether the weights are updated by what
/// `gradients` holds then.
class HostStrategy : public ExchangeStrategy {
 public:
  /// `comm` must outlive this.
  explicit HostStrategy(Communicator& communicator) : comm(communicator) {}

  /// Throws Error for the gradients of a GPU.
  void setup(ExchangeContext& context) final;
  bool wants_ready_gradients() const final { return true; }
  std::string description(Dtype /*fp32*/) const final { return {}; }
  Buffer* pending() final;
  void pending_restored(bool any) final { iteration = any ? 1 : 0; }
  /// Counts an iteration. Called after finish(). Throws Error if a span was made to show other elements.
  void end_iteration();

 protected:
  /// Before the first iteration.
  virtual void prepare(std::span<const Range> /*parameters*/) {}

  /// Starts an all-reduce: elements of `gradients` or `in_flight`, whole parameters, become their mean over all ranks.
  /// Returns at once; they must not be touched before wait(). Collective.
  void start(std::span<float> elements);
  /// The same for a range of `gradients`.
  void start(Range range);
  /// Returns when all started all-reduces have ended.
  void wait();
  /// start() and wait().
  void average(std::span<float> elements);
  /// Replaces the elements, anywhere, by their sum over all ranks; they are sent and added in this type. Collective.
  void sum_in(Dtype dtype, std::span<float> elements);

  Communicator& comm;
  std::span<float> gradients;  // of this rank, until they are exchanged; backward always writes them here
  std::span<float> in_flight;  // of the same length, 0 at first, for an exchange while backward writes new gradients
  int iteration = 0;           // counted from 0

 private:
  using ExchangeStrategy::context_;
  std::span<const Range> parameters() const { return std::span(fenced_).subspan(1, fenced_.size() - 2); }
  void check_whole_parameters(Range range) const;

  std::vector<Range> fenced_;  // the parameters, between two that reveal an index out of range
  Buffer in_flight_, summed_;
  std::deque<Range> started_;  // since the last wait()
};

/// A strategy and its name: "double-buffered".
struct NamedStrategy {
  std::string name;
  HostStrategy& strategy;
  bool one_late = false;  // each update uses the gradients of the previous iteration
};

/// Tries each strategy with known gradients of `layers` layers, then of a second network. All-reduces that were
/// started end in wait(), and not before. Rank 0 prints whether the weights are right, and the bytes sent. Collective.
void try_strategies(const std::vector<NamedStrategy>& strategies, int layers, std::uint64_t seed, Communicator& comm);

/// Trains the network of `args` on random images with each strategy, for some iterations (0: none) after two that are
/// not counted. Rank 0 prints the fastest iteration, and the part of it spent on the exchange alone. Collective.
void measure_strategies(const std::vector<NamedStrategy>& strategies, const Arguments& args, int iterations,
                        Communicator& comm);

/// Trains as exercise 02 does, with the strategy of this name. Throws UsageError if there is none. Collective.
void train_with_strategy(const std::vector<NamedStrategy>& strategies, const std::string& name, const Arguments& args,
                         Communicator& comm);

}  // namespace odori
