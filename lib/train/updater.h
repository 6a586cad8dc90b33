// SPDX-License-Identifier: Apache-2.0
// One training iteration, and how far the training has come.
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
  /// One batch a device, one update.
  virtual void update() = 0;
  /// Training loss and accuracy since the last call, over all devices of this process.
  virtual Metrics take_metrics() = 0;
  Optimizer& optimizer() { return optimizer_; }
  /// One iterator a device, the main device's first. Epochs are counted on the first.
  virtual std::vector<SerialIterator>& iterators() = 0;
  /// All replicas of the model, the main device's first.
  virtual std::vector<Classifier*> models() = 0;
  /// How many devices, what is made of their gradients, and how ranks exchange them: "mean over 2 devices".
  virtual std::string description() const = 0;
  /// The class, for reports: "StandardUpdater", "ParallelUpdater" or "another".
  virtual std::string kind() const { return "another"; }
  /// The ids of the devices by name; empty if they have no names.
  virtual const std::map<std::string, int>& devices() const;
  /// A sentence on its settings, which is printed above the table; empty for nothing.
  virtual std::string setting() const { return {}; }
  /// Do devices, of this process or of ranks, share a GPU? No speedup can be measured then.
  virtual bool shares_devices();

  Classifier& model() { return optimizer_.model(); }
  std::int64_t iteration() const { return iteration_; }
  void set_iteration(std::int64_t iteration) { iteration_ = iteration; }
  std::int64_t epoch() { return iterators().front().epoch(); }
  /// Has an epoch begun since the update before?
  virtual bool is_new_epoch() { return iterators().front().is_new_epoch(); }
  double epoch_detail() { return iterators().front().epoch_detail(); }

 protected:
  /// ", double buffering", or nothing where gradients are exchanged in the usual way.
  std::string exchange_in_words() const;

  Optimizer& optimizer_;
  std::int64_t iteration_ = 0;
};

/// Throws Error unless the iterator can train the model: it repeats, its batches are of the model's size and not
/// larger than its data set, and the images and labels are what the network was made for.
void require_fit(const SerialIterator& iterator, const Classifier& model);
/// Throws Error if an update of that many of its batches takes more than an epoch.
void require_within_epoch(int n_batches, const SerialIterator& iterator);

}  // namespace odori
