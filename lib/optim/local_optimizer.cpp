// SPDX-License-Identifier: Apache-2.0
#include "optim/local_optimizer.h"

#include "errors/error.h"

namespace odori {

void LocalOptimizer::setup(Classifier& model) {
  model_ = &model;
  shard_ = wanted_shard_.value_or(Range{0, model.memory().parameters.size()});
  for (Buffer& vector : vectors_) vector = model.device().allocate(shard_.size());
  set_n_updates(0);
}

void LocalOptimizer::add_hook(std::unique_ptr<Hook> hook) { hooks_.push_back(std::move(hook)); }

void LocalOptimizer::update(Range range) {
  Device& device = model().device();
  ModelMemory& memory = model().memory();
  device.for_pieces(range, [&](Range piece) {
    for (const auto& hook : hooks_) hook->apply(device, memory, piece);
    apply_rule(device, memory, piece);
  });
}

Classifier& LocalOptimizer::model() {
  require(model_ != nullptr, "The optimizer has no model yet. Call optimizer.setup(model) before training.");
  return *model_;
}

std::vector<std::vector<float>> LocalOptimizer::state() {
  std::vector<std::vector<float>> state;
  Buffer whole;  // laid out as the parameters are
  if (!is_whole()) whole = model().device().allocate(model().memory().parameters.size());
  for (const Buffer& vector : vectors_) {
    if (!is_whole()) copy(vector, 0, whole, shard_.begin);
    for (const NamedView& parameter : model().parameters())
      state.push_back(model().graph().read_parameter(is_whole() ? vector : whole, parameter.view));
  }
  return state;
}

void LocalOptimizer::restore(const std::vector<std::vector<float>>& state) {
  const auto& parameters = model().parameters();
  require(state.size() == vectors_.size() * parameters.size(),
          "The optimizer's saved state has {} vectors, but this optimizer keeps {} for each of the model's {} "
          "parameters: it is of another network or another optimizer.",
          state.size(), vectors_.size(), parameters.size());
  Buffer whole;
  if (!is_whole()) whole = model().device().allocate(model().memory().parameters.size());
  auto values = state.begin();
  for (Buffer& vector : vectors_) {
    for (const NamedView& parameter : parameters)
      model().graph().write_parameter(is_whole() ? vector : whole, parameter.view, *values++);
    if (!is_whole()) copy(whole, shard_.begin, vector, 0);
  }
}

void LocalOptimizer::copy(const Buffer& from, std::size_t from_begin, Buffer& to, std::size_t to_begin) {
  std::vector<float> values(shard_.size());
  model().device().read(from, from_begin, values);
  model().device().write(to, to_begin, values);
}

}  // namespace odori
