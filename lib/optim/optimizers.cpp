// SPDX-License-Identifier: Apache-2.0
#include "optim/optimizers.h"

#include <fmt/ranges.h>

#include "errors/error.h"
#include "optim/adam.h"
#include "optim/momentum_sgd.h"

namespace odori {

std::vector<std::string> optimizer_names() { return {"momentum", "adam"}; }

std::unique_ptr<Optimizer> create_optimizer(const std::string& name, float learning_rate) {
  if (name == "momentum") return std::make_unique<MomentumSGD>(learning_rate);
  if (name == "adam") return std::make_unique<Adam>(learning_rate);
  throw UsageError(
      fmt::format("There is no optimizer \"{}\". There are: {}.", name, fmt::join(optimizer_names(), ", ")));
}

}  // namespace odori
