// SPDX-License-Identifier: Apache-2.0
// The interface of optimizers.
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
  /// Call it before setup(): only this range of the flat parameter vector will be updated, and state is allocated only
  /// for it.
  virtual void set_shard(Range range) = 0;
  /// Adds a hook. Hooks run in the order in which they were added.
  virtual void add_hook(std::unique_ptr<Hook> hook) = 0;

  /// Called before the ranges of update n = 1, 2, ... since setup(). Skipped updates are not counted.
  virtual void begin_update(std::int64_t /*n*/) {}
  /// Applies hooks and rule to `range`. Whether the gradients include the hooks' changes afterwards is unspecified.
  virtual void update(Range range) = 0;
  /// Updates all parameters, after the exchange between ranks if there is one. Returns false if the update was skipped.
  bool update();
  /// Waits for the exchange of gradients between ranks, if there is one. Returns false if this update must be skipped;
  /// otherwise begins the update.
  bool finish_exchange();
  /// Updates begun since setup(), without skipped ones.
  std::int64_t n_updates() const { return n_updates_; }
  /// Continues after n updates, as a snapshot counted them.
  void set_n_updates(std::int64_t n) { n_updates_ = n; }

  /// How ranks exchange gradients (distributed/exchange/strategy.h). Null: this optimizer uses its own rank's
  /// gradients.
  virtual ExchangeStrategy* exchange() { return nullptr; }
  /// Sets the strategy for the next setup(). If exchange() is null, throws Error unless `options` are the defaults.
  virtual void set_exchange(const ExchangeOptions& options);
  /// ExchangeOptions::accumulate.
  virtual std::optional<int> accumulate() const { return {}; }
  /// The factor of the summed gradients of this rank's `batches` batches, so that the mean over ranks is the mean over
  /// all batches of all ranks. Collective if there are several ranks.
  virtual float share_of(int batches) { return 1.0f / static_cast<float>(batches); }

  virtual Classifier& model() = 0;  // throws Error before setup()
  virtual float learning_rate() const = 0;
  virtual void set_learning_rate(float rate) = 0;

  /// Host copy of the state for snapshots: n_lists() lists, each with one vector per parameter, in plain order.
  /// Collective if there are several ranks.
  virtual std::vector<std::vector<float>> state() = 0;
  virtual void restore(const std::vector<std::vector<float>>& state) = 0;
  virtual std::size_t n_lists() const { return 1; }

 private:
  std::int64_t n_updates_ = 0;
};

}  // namespace odori
