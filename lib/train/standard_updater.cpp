// SPDX-License-Identifier: Apache-2.0
#include "train/standard_updater.h"

#include <utility>

#include "distributed/exchange/strategy.h"
#include "errors/error.h"
#include "train/training_facts.h"

namespace odori {

StandardUpdater::StandardUpdater(SerialIterator iterator, Optimizer& optimizer, std::optional<int> accumulate)
    : Updater(optimizer), n_batches_(accumulate ? accumulate : optimizer.accumulate()) {
  observe::on_updater_made("StandardUpdater", {&iterator, 1});
  require_fit(iterator, optimizer.model());
  const int n = n_batches_.value_or(1);
  require(n > 0, "An update takes at least one batch, but {} were asked for.", n);
  require_within_epoch(n, iterator);
  iterators_.push_back(std::move(iterator));
  if (!n_batches_) return;
  share_ = optimizer.share_of(*n_batches_);
  if (*n_batches_ > 1) sum_ = model().device().allocate(model().memory().gradients.size());
}

void StandardUpdater::update() {
  new_epoch_ = false;
  compute_gradients();
  optimizer_.update();
  ++iteration_;
}

void StandardUpdater::next_batch(const OnGradientReady& on_gradient_ready) {
  SerialIterator& iterator = iterators_.front();
  model().forward_backward(*iterator.next(), on_gradient_ready);
  new_epoch_ |= iterator.is_new_epoch();
}

void StandardUpdater::compute_gradients() {
  const Buffer& gradients = model().memory().gradients;
  const Range all{0, gradients.size()};
  for (int i = 1; i < n_batches_.value_or(1); ++i) {
    next_batch();
    model().device().axpy(1, gradients, sum_, all);
  }
  if (ExchangeStrategy* const exchange = optimizer_.exchange(); exchange && exchange->wants_ready_gradients()) {
    next_batch([&](Range range) {
      add_earlier_batches(range);
      exchange->on_gradient_ready(range);
    });
  } else {
    next_batch();
    add_earlier_batches(all);
  }
}

void StandardUpdater::add_earlier_batches(Range range) {
  if (!n_batches_) return;
  Device& device = model().device();
  Buffer& gradients = model().memory().gradients;
  if (*n_batches_ > 1) {
    device.axpy(1, sum_, gradients, range);
    device.scale(0, sum_, range);
  }
  if (share_ != 1) device.scale(share_, gradients, range);
}

Metrics StandardUpdater::take_metrics() { return model().take_metrics(); }

std::string StandardUpdater::description() const {
  std::string words = "1 device";
  if (n_batches_.value_or(1) > 1) words += fmt::format(", {} batches an update", *n_batches_);
  return words + exchange_in_words();
}

std::string StandardUpdater::setting() const {
  if (n_batches_.value_or(1) == 1) return {};
  return fmt::format("An update uses the mean gradient of {} batches of {} images{}.", *n_batches_,
                     iterators_.front().batch_size(), optimizer_.exchange() ? " of each rank" : "");
}

}  // namespace odori
