// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 13: an updater with an exchange in the program. The lists that a diagnosis is chosen from
// are in diagnosis.h of exercises/common.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "diagnosis.h"
#include "epochs.h"
#include "train/standard_updater.h"

namespace odori {

/// A StandardUpdater with an exchange of gradients in the program: between backward and the update it calls `exchange`
/// with all gradients of this rank, in host memory, and updates with the result.
class ExchangingUpdater : public StandardUpdater {
 public:
  using Exchange = std::function<void(std::span<float> gradients)>;
  ExchangingUpdater(SerialIterator iterator, Optimizer& optimizer, Exchange exchange);

 protected:
  void compute_gradients() override;

 private:
  Exchange exchange_;
  std::vector<float> gradients_;  // host copy
};

}  // namespace odori
