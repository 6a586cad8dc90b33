#include "optim/momentum_sgd.h"

#include "core/error.h"

namespace odori {

MomentumSGD::MomentumSGD(float learning_rate, float momentum) : rate_(learning_rate), momentum_(momentum) {}

void MomentumSGD::setup(Classifier& model) {
  velocity_ = model.device().allocate(model.memory().parameters.size());
  model_ = &model;
}

void MomentumSGD::add_hook(std::unique_ptr<Hook> hook) { hooks_.push_back(std::move(hook)); }

void MomentumSGD::update(Range range) {
  Device& device = model().device();
  ModelMemory& memory = model().memory();
  device.for_pieces(range, [&](Range piece) {
    for (const auto& hook : hooks_) hook->apply(device, memory, piece);
    device.momentum_sgd(memory.parameters, memory.gradients, velocity_, rate_, momentum_, piece);
  });
}

Classifier& MomentumSGD::model() {
  require(model_ != nullptr, "The optimizer has no model yet. Call optimizer.setup(model) before training.");
  return *model_;
}

std::vector<std::vector<float>> MomentumSGD::state() {
  std::vector<std::vector<float>> velocities;
  for (const NamedView& parameter : model().parameters())
    velocities.push_back(model().graph().read_parameter(velocity_, parameter.view));
  return velocities;
}

void MomentumSGD::restore(const std::vector<std::vector<float>>& state) {
  const auto& parameters = model().parameters();
  require(state.size() == parameters.size(),
          "The optimizer's saved state has {} velocities, but the model has {} parameters: it is of another "
          "network.",
          state.size(), parameters.size());
  for (std::size_t i = 0; i < state.size(); ++i)
    model().graph().write_parameter(velocity_, parameters[i].view, state[i]);
}

}  // namespace odori
