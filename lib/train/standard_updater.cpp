#include "train/standard_updater.h"

#include <utility>

#include "train/record.h"

namespace odori {

StandardUpdater::StandardUpdater(SerialIterator iterator, Optimizer& optimizer) : optimizer_(optimizer) {
  record_updater("StandardUpdater", "mean", {iterator});
  require_fit(iterator, optimizer.model());
  iterators_.push_back(std::move(iterator));
}

void StandardUpdater::update() {
  model().forward_backward(*iterators_.front().next());
  optimizer_.update();
  ++iteration_;
}

Metrics StandardUpdater::take_metrics() { return model().take_metrics(); }

}  // namespace odori
