// SPDX-License-Identifier: Apache-2.0
#include "optim/momentum_sgd.h"

namespace odori {

MomentumSGD::MomentumSGD(float learning_rate, float momentum) : LocalOptimizer(learning_rate, 1), momentum_(momentum) {}

void MomentumSGD::apply_rule(Device& device, ModelMemory& memory, Range range) {
  device.momentum_sgd(memory.parameters, memory.gradients, vector(0), learning_rate(), momentum_, range, shard_begin());
}

}  // namespace odori
