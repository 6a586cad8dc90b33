// SPDX-License-Identifier: Apache-2.0
// Weight decay as a hook: g += rate * p, for every parameter, batch normalisation's included (as Chainer's).
#pragma once

#include "optim/optimizer.h"

namespace odori {

class WeightDecay : public Hook {
 public:
  explicit WeightDecay(float rate) : rate_(rate) {}
  void apply(Device& device, ModelMemory& memory, Range range) override;

 private:
  float rate_;
};

}  // namespace odori
