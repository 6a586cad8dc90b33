// SPDX-License-Identifier: Apache-2.0
#include "race_training.h"

#include <cmath>

#include "errors/error.h"

namespace odori::race {
namespace {

Range all_of(const Buffer& buffer) { return {0, buffer.size()}; }

void copy(Device& device, const Buffer& from, Buffer& to) {
  device.scale(0, to, all_of(to));
  device.axpy(1, from, to, all_of(to));
}

/// average = decay * average + (1 - decay) * values; values = average
void renew(Device& device, float decay, Buffer& average, Buffer& values) {
  device.scale(decay, average, all_of(average));
  device.axpy(1 - decay, values, average, all_of(average));
  copy(device, average, values);
}

}  // namespace

Training::Training(Classifier& model, const Recipe& recipe, int batches)
    : model_(model), recipe_(recipe), batches_(batches), steps_(static_cast<int>(std::ceil(batches * recipe.epochs))) {
  require(recipe.batch == model.batch_size(), "The recipe is for batches of {} images, the model for batches of {}.",
          recipe.batch, model.batch_size());
  // With a gradient that stays the same, momentum adds up 1 + 1 / (1 - momentum) of it. 1,024 images, whose gradients
  // are summed there, have one rate.
  const double scale = 1024 * (1 + 1 / (1 - recipe.momentum));
  rate_ = recipe.rate / scale * recipe.batch;
  decay_ = recipe.decay * recipe.batch / scale / rate_;
  for (const auto& [name, view] : model.parameters()) {
    const Range range{view.offset, view.offset + view.size()};
    if (const Group group = group_of(name); group != Group::frozen) parts_.push_back({range, group});
  }
  Device& device = model.device();
  ModelMemory& memory = model.memory();
  velocity_ = device.allocate(memory.parameters.size());
  average_ = device.allocate(memory.parameters.size());
  average_statistics_ = device.allocate(memory.statistics.size());
  copy(device, memory.parameters, average_);
  copy(device, memory.statistics, average_statistics_);
}

void Training::step(const Batch& batch) {
  require(steps_done_ < steps_, "The training of {} steps is over.", steps_);
  model_.forward_backward(batch);
  update();
  ++steps_done_;
  if (steps_done_ % recipe_.look_every == 0) look_ahead(static_cast<float>(look_ahead_decay(steps_done_, steps_)));
  if (steps_done_ == steps_) look_ahead(1);
}

void Training::update() {
  Device& device = model_.device();
  auto& [p, g, statistics] = model_.memory();
  const double factor = triangle(steps_done_, steps_);
  const auto momentum = static_cast<float>(recipe_.momentum);
  const auto faster = [&](Group group) { return group == Group::bias ? recipe_.bias_factor : 1.0; };
  const bool bias_is_frozen = steps_done_ / batches_ >= recipe_.whitening_bias_epochs;
  const auto trained = [&](Group group) { return group != Group::whitening_bias || !bias_is_frozen; };
  for (const auto& [range, group] : parts_)
    if (trained(group)) device.axpy(static_cast<float>(decay_ / faster(group)), p, g, range);
  device.scale(momentum, velocity_, all_of(velocity_));
  device.axpy(1, g, velocity_, all_of(velocity_));
  for (const auto& [range, group] : parts_) {
    if (!trained(group)) continue;
    const auto rate = static_cast<float>(rate_ * factor * faster(group));
    device.axpy(-rate, g, p, range);
    device.axpy(-rate * momentum, velocity_, p, range);
  }
}

void Training::look_ahead(float decay) {
  ModelMemory& memory = model_.memory();
  renew(model_.device(), decay, average_, memory.parameters);
  renew(model_.device(), decay, average_statistics_, memory.statistics);
}

}  // namespace odori::race
