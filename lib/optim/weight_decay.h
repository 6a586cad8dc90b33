// SPDX-License-Identifier: Apache-2.0
// Weight decay as a hook: g += rate * p for every parameter, including those of batch normalisation, as in Chainer.
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
