// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum, as Chainer's MomentumSGD.
#pragma once

#include "optim/local_optimizer.h"

namespace odori {

/// v = momentum * v - rate * g; p += v. Source: B. Polyak, 1964, "Some methods of speeding up the convergence
/// of iteration methods".
class MomentumSGD : public LocalOptimizer {
 public:
  explicit MomentumSGD(float learning_rate = 0.01f, float momentum = 0.9f);
  std::string name() const override { return "momentum"; }

 protected:
  void apply_rule(Device& device, ModelMemory& memory, Range range) override;

 private:
  float momentum_;
};

}  // namespace odori
