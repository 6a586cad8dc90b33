// SPDX-License-Identifier: Apache-2.0
// One training iteration, and the progress of training. After Chainer's Updater.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/serial_iterator.h"
#include "optim/optimizer.h"

namespace odori {

class Updater {
 public:
  explicit Updater(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~Updater() = default;
  /// Computes the gradients of one batch per device (more with accumulation), and updates the parameters.
  virtual void update() = 0;
  /// Training loss and accuracy since the last call, over all devices of this process.
  virtual Metrics take_metrics() = 0;
  Optimizer& optimizer() { return optimizer_; }
  /// One iterator per device, the main device's first. The first one counts epochs.
  virtual std::vector<SerialIterator>& iterators() = 0;
  /// All replicas of the model, the main device's first.
  virtual std::vector<Classifier*> models() = 0;
  /// Number of devices, gradient rule, and exchange between ranks: "mean over 2 devices".
  virtual std::string description() const = 0;
  /// The class, for reports: "StandardUpdater", "ParallelUpdater" or "another".
  virtual std::string kind() const { return "another"; }
  /// The ids of the devices by name; empty if they have no names.
  virtual const std::map<std::string, int>& devices() const;
  /// A sentence about its settings, printed above the table. Empty: none.
  virtual std::string setting() const { return {}; }
  /// True if devices of this process, or ranks, share a GPU, so that no speedup can be measured.
  virtual bool shares_devices();

  Classifier& model() { return optimizer_.model(); }
  std::int64_t iteration() const { return iteration_; }
  void set_iteration(std::int64_t iteration) { iteration_ = iteration; }
  std::int64_t epoch() { return iterators().front().epoch(); }
  /// True if the last update has begun an epoch.
  virtual bool is_new_epoch() { return iterators().front().is_new_epoch(); }
  double epoch_detail() { return iterators().front().epoch_detail(); }

 protected:
  /// ", double buffering"; empty for a synchronous exchange in fp32.
  std::string exchange_in_words() const;

  Optimizer& optimizer_;
  std::int64_t iteration_ = 0;
};

/// Throws Error unless the iterator can train the model: it repeats, its batches have the model's batch size, and image
/// size and classes match the network.
void require_fit(const SerialIterator& iterator, const Classifier& model);
/// Throws Error if all but the last of `n_batches` batches are an epoch or more.
void require_within_epoch(int n_batches, const SerialIterator& iterator);

}  // namespace odori
