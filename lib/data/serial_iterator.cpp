// SPDX-License-Identifier: Apache-2.0
#include "data/serial_iterator.h"

#include <numeric>
#include <utility>

#include "errors/error.h"
#include "observe/hooks.h"

namespace odori {

SerialIterator::SerialIterator(DatasetPtr dataset, int batch_size, const IteratorOptions& options)
    : dataset_(std::move(dataset)),
      batch_size_(batch_size),
      options_(options),
      random_(options.seed, RandomUse::shuffle, options.stream) {
  require(dataset_ != nullptr, "An iterator needs a data set: none was given.");
  require(
      dataset_->size() > 0,
      "An iterator needs a data set with at least one example: this one is empty. Are there more devices or ranks than "
      "examples?");
  require(batch_size_ >= 1, "A batch can't have {} examples: at least 1.", batch_size_);
  const bool fits = !options_.repeat || static_cast<std::size_t>(batch_size_) <= dataset_->size();
  if (!fits) observe::on_refused_batch(batch_size_);
  require(fits,
          {"A batch of {} images is larger than the data of its device, {} images. Use a smaller --batchsize, fewer "
           "devices or ranks, or more data.",
           "{} 枚のバッチは、そのデバイスのデータ {} 枚より大きくなっています。--batchsize "
           "を小さくするか、デバイスやランクを"
           "減らすか、データを増やしてください。"},
          batch_size_, dataset_->size());
  reset();
}

void SerialIterator::new_order() {
  if (options_.shuffle) {
    state_.order = random_permutation(dataset_->size(), random_);
  } else if (state_.order.empty()) {
    state_.order.resize(dataset_->size());
    std::iota(state_.order.begin(), state_.order.end(), 0);
  }
}

void SerialIterator::reset() {
  state_ = {};
  random_.seek(0);
  new_order();
}

const Batch* SerialIterator::next() {
  state_.previous_epoch_detail = epoch_detail();
  if (!options_.repeat && state_.epoch > 0) return nullptr;

  const auto n = static_cast<std::int64_t>(dataset_->size());
  batch_.transform = dataset_->transform();
  batch_.storage = dataset_->storage();
  batch_.examples.clear();
  const auto take = [&](std::int64_t end) {
    for (std::int64_t i = state_.position; i < end; ++i)
      batch_.examples.push_back((*dataset_)[static_cast<std::size_t>(state_.order[static_cast<std::size_t>(i)])]);
    state_.position = end;
  };

  // `>=`: a batch that ends with the last example begins the new epoch itself, with nothing taken of it yet.
  std::int64_t end = state_.position + batch_size_;
  state_.is_new_epoch = false;
  if (end >= n) {
    take(n);
    new_order();
    ++state_.epoch;
    state_.is_new_epoch = true;
    state_.position = 0;
    if (!options_.repeat) return &batch_;
    end -= n;
  }
  take(end);
  return &batch_;
}

double SerialIterator::epoch_detail() const {
  return static_cast<double>(state_.epoch) +
         static_cast<double>(state_.position) / static_cast<double>(dataset_->size());
}

IteratorState SerialIterator::state() const {
  IteratorState state = state_;
  state.random_position = static_cast<std::int64_t>(random_.position());
  return state;
}

IteratorState SerialIterator::state_after(std::int64_t epochs) const {
  SerialIterator other(dataset_, batch_size_, options_);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) other.new_order();
  other.state_.epoch = epochs;
  other.state_.is_new_epoch = epochs > 0;
  return other.state();
}

void SerialIterator::check(const IteratorState& state) const {
  const auto n = static_cast<std::int64_t>(dataset_->size());
  require(state.order.size() == dataset_->size(),
          "The iterator's state is of a data set of {} examples, but this one has {}.", state.order.size(), n);
  constexpr std::int64_t most_epochs = 1'000'000'000;
  require(state.epoch >= 0 && state.epoch <= most_epochs, "The iterator's state is impossible: it is in epoch {}.",
          state.epoch);
  require(state.position >= 0 && state.position < n && state.random_position >= 0,
          "The iterator's state is impossible: it is at example {} of {}.", state.position, n);
  std::vector<bool> seen(dataset_->size());
  for (const std::int64_t i : state.order) {
    require(
        i >= 0 && i < n && !seen[static_cast<std::size_t>(i)],
        "The iterator's state is impossible: its order has example {} twice, or of {} examples none of this number.", i,
        n);
    seen[static_cast<std::size_t>(i)] = true;
  }
}

void SerialIterator::restore(const IteratorState& state) {
  check(state);
  state_ = state;
  random_.seek(static_cast<std::uint64_t>(state.random_position));
}

}  // namespace odori
