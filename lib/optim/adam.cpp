// SPDX-License-Identifier: Apache-2.0
#include "optim/adam.h"

#include <cmath>

namespace odori {

Adam::Adam(float learning_rate, double beta1, double beta2, double epsilon)
    : LocalOptimizer(learning_rate, 2), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}

void Adam::begin_update(std::int64_t n) {
  const auto t = static_cast<double>(n);
  factors_ = {.beta1 = static_cast<float>(beta1_),
              .rest1 = static_cast<float>(1 - beta1_),
              .beta2 = static_cast<float>(beta2_),
              .rest2 = static_cast<float>(1 - beta2_),
              .rate = static_cast<float>(learning_rate() / (1 - std::pow(beta1_, t))),
              .scale = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2_, t))),
              .epsilon = static_cast<float>(epsilon_)};
}

void Adam::apply_rule(Device& device, ModelMemory& memory, Range range) {
  device.adam(memory.parameters, memory.gradients, vector(0), vector(1), factors_, range, shard_begin());
}

}  // namespace odori
