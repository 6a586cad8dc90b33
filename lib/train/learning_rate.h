// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules. The rate of each update depends only on the epochs trained so far, so a resumed run has the
// same rates as one without interruption.
//
//   rate = the optimizer's initial rate x scale x schedule(epochs so far)
//
// n ranks train with an n times larger global batch. Its mean gradient has less noise, and an epoch has fewer updates,
// so the rate is scaled up. At the start the scaled rate can make training diverge, so it is ramped up linearly.
// Source: P. Goyal et al., 2017, "Accurate, large minibatch SGD: training ImageNet in 1 hour" (arXiv 1706.02677).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/extension.h"

namespace odori {

/// Returns n, the factor of the rate for an n times larger batch (Goyal et al.).
double linear_scaling(int n);
/// Returns sqrt(n), the factor that preserves the variance of an update. A. Krizhevsky, 2014, "One weird trick for
/// parallelizing convolutional neural networks" (arXiv 1404.5997).
double square_root_scaling(int n);

/// Returns the factor of the rate after `epochs` epochs, fractions included.
using Schedule = std::function<double(double epochs)>;

/// Rises linearly from 1/n to 1 during the first `epochs` epochs, then follows `then` (default: 1). Goyal et al. use 5
/// epochs.
Schedule warm_up(int n, double epochs, Schedule then = {});
/// Multiplies the rate by `factor` at each of these epochs. Goyal et al. use 0.1 at 30, 60 and 80.
Schedule step_decay(double factor, std::vector<double> epochs);
/// Multiplies the rate by `factor` every `every` epochs. Chainer's CIFAR example uses 0.5 every 25.
Schedule exponential_shift(double factor, double every);

/// Sets the rate before each update. Add it on every rank.
class LearningRate : public Extension {
 public:
  /// Throws Error unless scale > 0.
  explicit LearningRate(double scale, Schedule schedule);
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return writer; }
  void initialize(Trainer& trainer) override;
  std::string setting(Trainer& trainer) const override;
  void run(Trainer& trainer) override;

  std::string name() const override { return "LearningRate"; }
  /// The optimizer's initial rate.
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  double scale_;
  Schedule schedule_;
  std::optional<float> own_rate_;
};

}  // namespace odori
