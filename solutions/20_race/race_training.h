// SPDX-License-Identifier: Apache-2.0
// The steps of a training: Nesterov's momentum with a rate and a decay for each group of parameters, and the average
// that training returns to every few steps.
#pragma once

#include "optim/momentum_sgd.h"
#include "race_recipe.h"

namespace odori::race {

/// Step t of parameters p with the mean gradient g of a batch (Y. Nesterov, 1983, "A method for solving the convex
/// programming problem with convergence rate O(1/k^2)"):
///
///   g += decay * p;   v = momentum * v + g;   p -= triangle(t) * rate * (g + momentum * v)
///
/// After every fifth step, average = a * average + (1 - a) * p with a = look_ahead_decay(), and p = average; after the
/// last step p = average. Running statistics take part in this. M. Zhang et al., 2019, "Lookahead optimizer: k steps
/// forward, 1 step back" (arXiv 1907.08610).
class Training {
 public:
  /// The model is on its device and has its initial parameters. `batches`: of an epoch.
  Training(Classifier& model, const Recipe& recipe, int batches);
  /// Trains on a batch of the model's size.
  void step(const Batch& batch);
  int steps_done() const { return steps_done_; }
  int steps() const { return steps_; }

 private:
  std::size_t add_group(Group group, double faster);
  void look_ahead(double keep);

  Classifier& model_;
  Recipe recipe_;
  int batches_, steps_, steps_done_ = 0;
  double rate_, decay_;  // of weights, for mean gradients
  MomentumSGD optimizer_;
  std::size_t whitening_bias_ = 0;  // a group
  Buffer average_, average_statistics_;
};

}  // namespace odori::race
