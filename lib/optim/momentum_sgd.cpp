#include "optim/momentum_sgd.h"

#include "errors/error.h"

namespace odori {

MomentumSGD::MomentumSGD(float learning_rate, float momentum) : rate_(learning_rate), momentum_(momentum) {}

void MomentumSGD::setup(Classifier& model) {
  model_ = &model;
  shard_ = wanted_shard_.value_or(Range{0, model.memory().parameters.size()});
  velocity_ = model.device().allocate(shard_.size());
}

void MomentumSGD::add_hook(std::unique_ptr<Hook> hook) { hooks_.push_back(std::move(hook)); }

void MomentumSGD::update(Range range) {
  Device& device = model().device();
  ModelMemory& memory = model().memory();
  device.for_pieces(range, [&](Range piece) {
    for (const auto& hook : hooks_) hook->apply(device, memory, piece);
    device.momentum_sgd(memory.parameters, memory.gradients, velocity_, rate_, momentum_, piece, shard_.begin);
  });
}

Classifier& MomentumSGD::model() {
  require(model_ != nullptr, "The optimizer has no model yet. Call optimizer.setup(model) before training.");
  return *model_;
}

std::vector<std::vector<float>> MomentumSGD::state() {
  Buffer whole;  // laid out as the parameters are
  if (!is_whole()) {
    whole = model().device().allocate(model().memory().parameters.size());
    copy(velocity_, 0, whole, shard_.begin);
  }
  std::vector<std::vector<float>> velocities;
  for (const NamedView& parameter : model().parameters())
    velocities.push_back(model().graph().read_parameter(is_whole() ? velocity_ : whole, parameter.view));
  return velocities;
}

void MomentumSGD::restore(const std::vector<std::vector<float>>& state) {
  const auto& parameters = model().parameters();
  require(state.size() == parameters.size(),
          "The optimizer's saved state has {} velocities, but the model has {} parameters: it is of another "
          "network.",
          state.size(), parameters.size());
  Buffer whole;
  if (!is_whole()) whole = model().device().allocate(model().memory().parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    model().graph().write_parameter(is_whole() ? velocity_ : whole, parameters[i].view, state[i]);
  if (!is_whole()) copy(whole, shard_.begin, velocity_, 0);
}

void MomentumSGD::copy(const Buffer& from, std::size_t from_begin, Buffer& to, std::size_t to_begin) {
  std::vector<float> values(shard_.size());
  model().device().read(from, from_begin, values);
  model().device().write(to, to_begin, values);
}

}  // namespace odori
