// SPDX-License-Identifier: Apache-2.0
// Batches, one after another. After Chainer's SerialIterator, with its epoch arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "numbers/random.h"

namespace odori {

/// What the iterator has to remember to go on exactly where it was.
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
  std::uint32_t stream = 0;  // so that devices and ranks with one seed shuffle differently
};

/// With repeat, every batch has exactly batch_size examples: one that reaches the end is completed from the next
/// epoch's order. An epoch is over when its last example has been handed out.
class SerialIterator {
 public:
  /// Throws Error for an empty data set, a batch size below 1 or, with repeat, one larger than the data set: told
  /// here, before a model takes memory for it.
  SerialIterator(DatasetPtr dataset, int batch_size, const IteratorOptions& options = {});

  /// The next batch, valid until the next call; null when the examples are used up (repeat = false).
  const Batch* next();
  /// Back to before the first example, as newly made: the same orders come again.
  void reset();

  std::int64_t epoch() const { return state_.epoch; }
  bool is_new_epoch() const { return state_.is_new_epoch; }
  /// Epochs done, with the fraction of the running one.
  double epoch_detail() const;
  double previous_epoch_detail() const { return state_.previous_epoch_detail; }
  int batch_size() const { return batch_size_; }
  const DatasetPtr& dataset() const { return dataset_; }
  bool repeat() const { return options_.repeat; }

  IteratorState state() const;
  /// What state() is where this many epochs are over and nothing of the next one is taken.
  IteratorState state_after(std::int64_t epochs) const;
  /// Throws Error if the state can't be one of this iterator's: of a data set of another size, say.
  void check(const IteratorState& state) const;
  /// check(), and goes on from there.
  void restore(const IteratorState& state);

 private:
  void new_order();

  DatasetPtr dataset_;
  int batch_size_;
  IteratorOptions options_;
  RandomSequence random_;
  IteratorState state_;
  Batch batch_;  // handed out; its memory serves for every batch
};

}  // namespace odori
