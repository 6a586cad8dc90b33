// SPDX-License-Identifier: Apache-2.0
// The learning rate during training. It is set before each update, from the epochs trained so far: nothing has to
// be counted, and a training that goes on after a snapshot has the same rates as one that was not interrupted.
//
//   rate = the optimizer's own x scale x schedule(epochs so far)
//
// Several ranks that train as one have a batch that is larger by their number. Its mean gradient has less noise, and an
// epoch has fewer updates: so the rate is scaled up. That large, it would throw new weights far off, and so it is
// reached in small steps.
// Source: P. Goyal et al., 2017, "Accurate, large minibatch SGD: training ImageNet in 1 hour" (arXiv 1706.02677).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/extension.h"

namespace odori {

/// A batch that is n times as large: n times the rate (Goyal et al.).
double linear_scaling(int n);
/// sqrt(n) times the rate, which keeps the noise of an update as it was. A. Krizhevsky, 2014, "One weird trick for
/// parallelizing convolutional neural networks" (arXiv 1404.5997).
double square_root_scaling(int n);

/// The factor of the rate after this many epochs, parts of epochs included.
using Schedule = std::function<double(double epochs)>;

/// From 1/n to 1 over the first epochs, by the same step each update; from then on `then`, or 1. Goyal et al. take 5.
Schedule warm_up(int n, double epochs, Schedule then = {});
/// Times `factor` at each of these epochs. Goyal et al. take 0.1 at 30, 60 and 80.
Schedule step_decay(double factor, std::vector<double> epochs);
/// Times `factor` each time `every` epochs have ended. Chainer's CIFAR example takes 0.5 every 25.
Schedule exponential_shift(double factor, double every);

/// Of several ranks, each needs it.
class LearningRate : public Extension {
 public:
  /// Throws Error for a scale that isn't above 0.
  explicit LearningRate(double scale, Schedule schedule);
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return writer; }
  void initialize(Trainer& trainer) override;
  std::string setting(Trainer& trainer) const override;
  void run(Trainer& trainer) override;

  std::string name() const override { return "LearningRate"; }
  /// The optimizer's own rate.
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  double scale_;
  Schedule schedule_;
  std::optional<float> own_rate_;
};

}  // namespace odori
