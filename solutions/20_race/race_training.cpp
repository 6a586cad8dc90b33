// SPDX-License-Identifier: Apache-2.0
#include "race_training.h"

#include <cmath>

#include "errors/error.h"

namespace odori::race {

Training::Training(Classifier& model, const Recipe& recipe, int batches)
    : model_(model),
      recipe_(recipe),
      batches_(batches),
      steps_(static_cast<int>(std::ceil(batches * recipe.epochs))),
      optimizer_(0, static_cast<float>(recipe.momentum), MomentumRule::nesterov) {
  require(recipe.batch == model.batch_size(), "The recipe is for batches of {} images, the model for batches of {}.",
          recipe.batch, model.batch_size());
  // With a gradient that stays the same, momentum adds up 1 + 1 / (1 - momentum) of it. 1,024 images, whose gradients
  // are summed there, have one rate.
  const double scale = 1024 * (1 + 1 / (1 - recipe.momentum));
  rate_ = recipe.rate / scale * recipe.batch;
  decay_ = recipe.decay * recipe.batch / scale / rate_;
  add_group(Group::frozen, 0);
  whitening_bias_ = add_group(Group::whitening_bias, 1);
  add_group(Group::bias, recipe.bias_factor);
  add_group(Group::weight, 1);
  optimizer_.setup(model);
  average_ = model.device().allocate(model.memory().parameters.size());
  average_statistics_ = model.device().allocate(model.memory().statistics.size());
  look_ahead(0);
}

/// The rates of `group` are `faster` times those of weights; its decay does not depend on them.
std::size_t Training::add_group(Group group, double faster) {
  return optimizer_.add_group({.contains = [group](const std::string& name) { return group_of(name) == group; },
                               .rate_factor = static_cast<float>(faster),
                               .weight_decay = static_cast<float>(faster > 0 ? decay_ / faster : 0)});
}

void Training::step(const Batch& batch) {
  require(steps_done_ < steps_, "The training of {} steps is over.", steps_);
  model_.forward_backward(batch);
  if (steps_done_ / batches_ >= recipe_.whitening_bias_epochs) optimizer_.group(whitening_bias_).rate_factor = 0;
  optimizer_.set_learning_rate(static_cast<float>(rate_ * triangle(steps_done_, steps_)));
  optimizer_.update();
  ++steps_done_;
  if (steps_done_ % recipe_.look_every == 0) look_ahead(look_ahead_decay(steps_done_, steps_));
  if (steps_done_ == steps_) look_ahead(1);
}

void Training::look_ahead(double keep) {
  auto& [parameters, gradients, statistics] = model_.memory();
  const auto renew = [&](Buffer& average, Buffer& values) {
    model_.device().look_ahead(average, values, static_cast<float>(keep), {0, values.size()});
  };
  renew(average_, parameters);
  renew(average_statistics_, statistics);
}

}  // namespace odori::race
