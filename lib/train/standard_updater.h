// SPDX-License-Identifier: Apache-2.0
// Training on one device per process. After Chainer's StandardUpdater.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/updater.h"

namespace odori {

class StandardUpdater : public Updater {
 public:
  /// With `accumulate`, here or in the optimizer's ExchangeOptions, each update uses the mean gradient of that many
  /// batches, as if one larger batch had been used; ranks exchange gradients once per update. The constructor is then
  /// collective. A rank with less data may give a smaller number: the mean is over all batches of all ranks. Throws
  /// Error if the iterator does not fit the model.
  StandardUpdater(SerialIterator iterator, Optimizer& optimizer, std::optional<int> accumulate = {});
  void update() override;
  Metrics take_metrics() override;
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override { return {&optimizer_.model()}; }
  std::string description() const override;
  std::string setting() const override;
  std::string kind() const override { return "StandardUpdater"; }
  bool is_new_epoch() override { return new_epoch_; }

 protected:
  /// Computes the gradients of one update, in the model's memory. Override it to combine batches differently.
  virtual void compute_gradients();
  /// Computes the mean gradient of the next batch, in the model's memory. on_gradient_ready: as
  /// for Classifier::forward_backward().
  void next_batch(const OnGradientReady& on_gradient_ready = {});

 private:
  /// Turns the gradients of the last batch into those of all batches of the update.
  void add_earlier_batches(Range range);

  std::vector<SerialIterator> iterators_;  // one
  std::optional<int> n_batches_;           // per update. None: one, unscaled
  float share_ = 1;                        // weight of one batch in the mean over all batches of all ranks
  Buffer sum_;                             // of the gradients of an update's batches before the last; 0 between updates
  bool new_epoch_ = false;                 // the last update has begun an epoch
};

}  // namespace odori
