// SPDX-License-Identifier: Apache-2.0
// From gradients to new parameters: what every optimizer has.
//
// One update, after Classifier::forward_backward():
//
//   finish_exchange()              calls begin_update(); the gradients are the mean over all ranks. false: skip this
//                                  update.
//   update(range), update(range)   ranges that together cover everything once, in any order and from any thread
//   exchange()->after_update()     if there is an exchange of gradients between ranks
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/classifier.h"
#include "optim/exchange_options.h"

namespace odori {

class ExchangeStrategy;

/// Changes gradients before the rule is applied, on one range of the flat vectors at a time.
class Hook {
 public:
  virtual ~Hook() = default;
  virtual void apply(Device& device, ModelMemory& memory, Range range) = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// As --optimizer spells it: "momentum". Part of a snapshot's key.
  virtual std::string name() const = 0;
  /// The model to update. It must be on its device.
  virtual void setup(Classifier& model) = 0;
  /// Before setup(): only this range of the flat parameter vector will be updated, so state is allocated for it alone.
  virtual void set_shard(Range range) = 0;
  /// Hooks run in the order of adding.
  virtual void add_hook(std::unique_ptr<Hook> hook) = 0;

  /// Called before the ranges of update n = 1, 2, ... since setup(). Skipped updates are not counted.
  virtual void begin_update(std::int64_t /*n*/) {}
  /// Applies hooks and rule to `range`. Afterwards, gradients may hold what the hooks made of them, or not.
  virtual void update(Range range) = 0;
  /// One update of all parameters, with the exchange between ranks if there is one. Returns false if it was skipped.
  bool update();
  /// Waits for the exchange of gradients between ranks, if there is one. Returns false if this update is to be skipped;
  /// else the update has begun.
  bool finish_exchange();
  /// Updates that have begun since setup().
  std::int64_t n_updates() const { return n_updates_; }
  /// Continues after n updates, as a snapshot counted them.
  void set_n_updates(std::int64_t n) { n_updates_ = n; }

  /// How ranks exchange gradients (distributed/exchange/strategy.h). Null: this optimizer uses its own rank's
  /// gradients.
  virtual ExchangeStrategy* exchange() { return nullptr; }
  /// The strategy from the next setup() on. Throws Error for anything but the defaults if exchange() is null.
  virtual void set_exchange(const ExchangeOptions& options);
  /// Batches of this rank per update, if the optimizer was created with a number.
  virtual std::optional<int> accumulate() const { return {}; }
  /// The factor that turns the sum of the gradients of this rank's `batches` batches into its contribution to the mean
  /// over all batches of all ranks, whose counts may differ. Collective if there are ranks.
  virtual float share_of(int batches) { return 1.0f / static_cast<float>(batches); }

  virtual Classifier& model() = 0;  // throws Error before setup()
  virtual float learning_rate() const = 0;
  virtual void set_learning_rate(float rate) = 0;

  /// Host copy of all state from one update to the next, for snapshots: n_lists() lists, each with one vector a
  /// parameter, in plain order. Collective if there are ranks.
  virtual std::vector<std::vector<float>> state() = 0;
  virtual void restore(const std::vector<std::vector<float>>& state) = 0;
  virtual std::size_t n_lists() const { return 1; }

 private:
  std::int64_t n_updates_ = 0;
};

}  // namespace odori
