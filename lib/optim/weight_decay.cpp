// SPDX-License-Identifier: Apache-2.0
#include "optim/weight_decay.h"

namespace odori {

void WeightDecay::apply(Device& device, ModelMemory& memory, Range range) {
  device.axpy(rate_, memory.parameters, memory.gradients, range);
}

}  // namespace odori
