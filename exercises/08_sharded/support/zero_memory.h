// SPDX-License-Identifier: Apache-2.0
// Memory of the stages of ZeRO for a large network, by arithmetic.
#pragma once

#include <vector>

#include "comm/cost.h"

namespace odori {

/// Gigabytes of a rank of n at the peak of a step, for 7 billion parameters in 32 layers of one size (as H. Touvron et
/// al., 2023, "LLaMA: open and efficient foundation language models"), with Adam and fp32, without activations.
inline double zero_gigabytes(int stage, int n) {
  const std::vector<LayerCost> layers(32, {.parameters = 7e9 / 32});
  return cost::zero_memory(stage, n, layers, cost::fp32_adam).bytes() / 1e9;
}

constexpr const char* sharded_in(int stage) {
  return stage == 0   ? "nothing is sharded"
         : stage == 1 ? "moments"
         : stage == 2 ? "moments, gradients"
                      : "moments, gradients, parameters";
}

}  // namespace odori
