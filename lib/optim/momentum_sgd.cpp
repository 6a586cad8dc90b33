// SPDX-License-Identifier: Apache-2.0
#include "optim/momentum_sgd.h"

#include <algorithm>

#include "errors/error.h"

namespace odori {

MomentumSGD::MomentumSGD(float learning_rate, float momentum, MomentumRule rule)
    : LocalOptimizer(learning_rate, 1), momentum_(momentum), rule_(rule) {}

std::size_t MomentumSGD::add_group(ParameterGroup group) {
  require(groups_.size() < MomentumGroups::most,
          "An optimizer has at most {} parameter groups, and one of all other parameters. Put parameters with the "
          "same settings into one group.",
          MomentumGroups::most - 1);
  require(!is_set_up(), "Parameter groups come before optimizer.setup(model), which places them.");
  require(group.contains != nullptr, "A parameter group needs `contains`, which says what parameters are in it.");
  groups_.push_back(std::move(group));
  return groups_.size() - 1;
}

void MomentumSGD::setup(Classifier& model) {
  LocalOptimizer::setup(model);
  parts_.clear();
  if (groups_.size() == 1) return;
  std::vector<int> members(groups_.size());
  for (const auto& [name, view] : model.parameters()) {
    std::size_t group = 1;
    while (group < groups_.size() && !groups_[group].contains(name)) ++group;
    group %= groups_.size();
    ++members[group];
    // A part ends where the next one begins, so that gaps belong to the parameter before.
    if (parts_.empty() || parts_.back().group != group) {
      const std::size_t begin = parts_.empty() ? 0 : view.offset;
      if (!parts_.empty()) parts_.back().range.end = begin;
      parts_.push_back({{begin, model.memory().parameters.size()}, group});
    }
  }
  for (std::size_t i = 1; i < groups_.size(); ++i)
    require(members[i] > 0, "Parameter group {} contains none of the model's {} parameters. Correct its `contains`.", i,
            model.parameters().size());
}

void MomentumSGD::apply_rule(Device& device, ModelMemory& memory, Range range) {
  MomentumGroups groups;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const float rate = learning_rate() * groups_[i].rate_factor, decay = groups_[i].weight_decay;
    groups.factors[i] = (rule_ == MomentumRule::polyak ? polyak : nesterov)(rate, momentum_, decay);
  }
  groups.parts = parts_;
  device.momentum_sgd(memory.parameters, memory.gradients, vector(0), groups, range, shard_begin());
}

}  // namespace odori
