// SPDX-License-Identifier: Apache-2.0
// The Adam optimizer.
#pragma once

#include "backend/adam_factors.h"
#include "optim/local_optimizer.h"

namespace odori {

/// In update t = 1, 2, ...:
///
///   m = beta1 * m + (1 - beta1) * g;   v = beta2 * v + (1 - beta2) * g^2
///   p -= rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
///
/// Two fp32 values of state per parameter. The WeightDecay hook changes g, so it is L2 regularization, not decoupled
/// weight decay. Source: D. Kingma and J. Ba, 2015, "Adam: A Method for Stochastic Optimization" (arXiv 1412.6980),
/// algorithm 1.
class Adam : public LocalOptimizer {
 public:
  static constexpr float usual_rate = 0.001f;

  explicit Adam(float learning_rate = usual_rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8);
  std::string name() const override { return "adam"; }
  void begin_update(std::int64_t n) override;

 protected:
  void apply_rule(Device& device, ModelMemory& memory, Range range) override;

 private:
  double beta1_, beta2_, epsilon_;
  AdamFactors factors_;  // of the current update
};

}  // namespace odori
