// SPDX-License-Identifier: Apache-2.0
#include "train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "errors/error.h"
#include "errors/text.h"
#include "train/trainer.h"

namespace odori {

double linear_scaling(int n) { return n; }

double square_root_scaling(int n) { return std::sqrt(n); }

Schedule warm_up(int n, double epochs, Schedule then) {
  require(n > 0 && epochs >= 0,
          "A warm-up from 1/{} over {} epochs is impossible: give 1 or more, and 0 epochs or more.", n, epochs);
  return [n, epochs, then = std::move(then)](double behind) {
    const double first = 1.0 / n;
    if (behind < epochs) return first + (1 - first) * behind / epochs;
    return then ? then(behind) : 1;
  };
}

Schedule step_decay(double factor, std::vector<double> epochs) {
  return [factor, epochs = std::move(epochs)](double behind) {
    return std::pow(factor, std::count_if(epochs.begin(), epochs.end(), [=](double at) { return at <= behind; }));
  };
}

Schedule exponential_shift(double factor, double every) {
  require(every > 0, "A learning rate can't be changed every {} epochs: give more than 0.", every);
  return [factor, every](double behind) { return std::pow(factor, std::floor(behind / every)); };
}

LearningRate::LearningRate(double scale, Schedule schedule) : scale_(scale), schedule_(std::move(schedule)) {
  require(scale_ > 0, "A learning rate can't be scaled by {}: give a number above 0.", scale_);
  require(static_cast<bool>(schedule_), "The extension LearningRate was given a schedule that is null.");
}

void LearningRate::initialize(Trainer& trainer) {
  if (!own_rate_) own_rate_ = trainer.updater().optimizer().learning_rate();
  run(trainer);
}

std::string LearningRate::setting(Trainer& trainer) const {
  const double full = *own_rate_ * scale_, n = trainer.n_epochs();
  const double first = full * schedule_(0), last = full * schedule_(n);
  std::string words = fmt::format("Learning rate: {:g}", *own_rate_);
  if (scale_ != 1) words += fmt::format(" x {:g} = {:g}", scale_, full);
  words += first == last ? "." : fmt::format(", from {:g} at first to {:g} at the end.", first, last);
  // Still rising.
  if (last < full && schedule_(n) > schedule_(0.999 * n))
    words += fmt::format(" It does not reach {:g}: the warm-up is longer than this training.", full);
  return words;
}

void LearningRate::run(Trainer& trainer) {
  Updater& updater = trainer.updater();
  updater.optimizer().set_learning_rate(static_cast<float>(*own_rate_ * scale_ * schedule_(updater.epoch_detail())));
}

std::string LearningRate::state() const { return fmt::format("{}", own_rate_.value_or(0)); }

void LearningRate::restore(const std::string& state) {
  own_rate_ = number_of<float>(state);
  require(own_rate_.has_value(), "The snapshot's learning rate is damaged: \"{}\".", state);
}

}  // namespace odori
