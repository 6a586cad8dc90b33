// One device a process. After Chainer's StandardUpdater.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/updater.h"

namespace odori {

class StandardUpdater : public Updater {
 public:
  /// With `accumulate`, or as many as the optimizer says, an update is by the mean gradient of so many batches, as of one batch that is so many times as
  /// large; ranks exchange it once. Each rank gives its own number then (the constructor is collective), fewer where it
  /// has less data: the mean is over all batches of all ranks.
  /// Throws Error if a batch is larger than the iterator's data set or doesn't fit the model.
  StandardUpdater(SerialIterator iterator, Optimizer& optimizer, std::optional<int> accumulate = {});
  void update() override;
  Metrics take_metrics() override;
  std::vector<SerialIterator>& iterators() override { return iterators_; }
  std::vector<Classifier*> models() override { return {&optimizer_.model()}; }
  std::string description() const override;
  std::string setting() const override;
  bool is_new_epoch() override { return new_epoch_before_last_ || Updater::is_new_epoch(); }

 private:
  /// These gradients of the last batch become those of all batches.
  void add_up(Range range);

  std::vector<SerialIterator> iterators_;  // one
  std::optional<int> n_batches_;           // of an update; none: one, as it is
  float share_ = 1;                        // of a batch in all that make an update
  Buffer sum_;                          // of the gradients of all batches of an update but the last; 0 between updates
  bool new_epoch_before_last_ = false;  // a batch of the last update, but its last, has begun one
};

}  // namespace odori
