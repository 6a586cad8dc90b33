// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum, with parameter groups as those of torch.optim.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/momentum_factors.h"
#include "optim/local_optimizer.h"

namespace odori {

/// polyak: as Chainer's MomentumSGD. nesterov: as torch.optim.SGD with nesterov=True, whose velocity does not include
/// the rate, so that a new rate acts on all of it. Formulas and sources: backend/momentum_factors.h.
enum class MomentumRule { polyak, nesterov };

/// Parameters with their own settings.
struct ParameterGroup {
  std::function<bool(const std::string& name)>
      contains;            // true for the names of its parameters, as in Classifier::parameters()
  float rate_factor = 1;   // of the learning rate; 0 from the start: frozen
  float weight_decay = 0;  // g += weight_decay * p, after the hooks
};

class MomentumSGD : public LocalOptimizer {
 public:
  explicit MomentumSGD(float learning_rate = 0.01f, float momentum = 0.9f, MomentumRule rule = MomentumRule::polyak);
  std::string name() const override { return rule_ == MomentumRule::polyak ? "momentum" : "nesterov"; }

  /// Adds a group before setup(), and returns its index: 1, 2, ... A parameter is in the first group that contains it,
  /// or in group 0, which has the factor 1 and no weight decay. Throws Error if there are too many.
  std::size_t add_group(ParameterGroup group);
  /// Factor and weight decay may be changed between updates.
  ParameterGroup& group(std::size_t index) { return groups_.at(index); }
  /// Throws Error if a group contains no parameter of the model.
  void setup(Classifier& model) override;

 protected:
  void apply_rule(Device& device, ModelMemory& memory, Range range) override;

 private:
  float momentum_;
  MomentumRule rule_;
  std::vector<ParameterGroup> groups_{{}};
  std::vector<MomentumGroups::Part> parts_;  // empty without groups
};

}  // namespace odori
