// SPDX-License-Identifier: Apache-2.0
// Creates optimizers by their --optimizer names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace odori {

/// "momentum" and "adam".
std::vector<std::string> optimizer_names();
/// MomentumSGD or Adam with default settings. Throws UsageError for a name that is not one of optimizer_names().
std::unique_ptr<Optimizer> create_optimizer(const std::string& name, float learning_rate);

}  // namespace odori
