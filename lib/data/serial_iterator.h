// SPDX-License-Identifier: Apache-2.0
// Iterates over batches of a data set. After Chainer's SerialIterator, with the same epoch arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "numbers/random.h"

namespace odori {

/// State of an iterator, for snapshots.
struct IteratorState {
  std::int64_t position = 0, epoch = 0, random_position = 0;
  bool is_new_epoch = false;
  double previous_epoch_detail = -1;
  std::vector<std::int64_t> order;
};

struct IteratorOptions {
  bool repeat = true;   // start again after the last example; false: stop, the last batch may be smaller
  bool shuffle = true;  // a new random order each epoch
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // gives devices and ranks with the same seed different orders
};

/// With `repeat`, every batch has exactly batch_size examples: a batch at the end of an epoch is completed from the
/// next epoch's order. An epoch ends when its last example has been returned.
class SerialIterator {
 public:
  /// Throws Error if the data set is empty, if batch_size < 1 or, with `repeat`, if a batch is larger than the data
  /// set.
  SerialIterator(DatasetPtr dataset, int batch_size, const IteratorOptions& options = {});

  /// Returns the next batch, valid until the next call. Returns null after the last example if `repeat` is false.
  const Batch* next();
  /// Restarts from the beginning, with the same orders.
  void reset();

  std::int64_t epoch() const { return state_.epoch; }
  bool is_new_epoch() const { return state_.is_new_epoch; }
  /// Completed epochs, plus the fraction of the current one.
  double epoch_detail() const;
  double previous_epoch_detail() const { return state_.previous_epoch_detail; }
  int batch_size() const { return batch_size_; }
  const DatasetPtr& dataset() const { return dataset_; }
  bool repeat() const { return options_.repeat; }

  IteratorState state() const;
  /// The state after this many complete epochs.
  IteratorState state_after(std::int64_t epochs) const;
  /// Throws Error if the state does not fit this iterator, for example if the size of the data set differs.
  void check(const IteratorState& state) const;
  /// Calls check(), and continues from the state.
  void restore(const IteratorState& state);

 private:
  void new_order();

  DatasetPtr dataset_;
  int batch_size_;
  IteratorOptions options_;
  RandomSequence random_;
  IteratorState state_;
  Batch batch_;  // reused for every batch
};

}  // namespace odori
