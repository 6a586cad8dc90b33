// SPDX-License-Identifier: Apache-2.0
#include "debugging_support.h"

#include <utility>

namespace odori {

ExchangingUpdater::ExchangingUpdater(SerialIterator iterator, Optimizer& optimizer, Exchange exchange)
    : StandardUpdater(std::move(iterator), optimizer),
      exchange_(std::move(exchange)),
      gradients_(optimizer.model().memory().gradients.size()) {}

void ExchangingUpdater::compute_gradients() {
  StandardUpdater::compute_gradients();
  Classifier& model = *models().front();
  model.device().read(model.memory().gradients, 0, gradients_);
  exchange_(gradients_);
  model.device().write(model.memory().gradients, 0, gradients_);
}

}  // namespace odori
