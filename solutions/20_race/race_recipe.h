// SPDX-License-Identifier: Apache-2.0
// The recipe: the network, and every setting of its training. Source of all values: K. Jordan, 2024, "94% on CIFAR-10
// in 3.29 seconds on a single GPU" (arXiv 2404.00498).
#pragma once

#include <string>
#include <vector>

#include "model/classifier.h"

namespace odori::race {

struct Recipe {
  int batch = 1024;
  double epochs = 9.9;
  // Decoupled: a step's mean size does not depend on the momentum, nor the decay on the rate.
  double rate = 11.5;           // per 1,024 images
  double decay = 0.0153;        // per 1,024 images
  double momentum = 0.85;       // Nesterov's
  double bias_factor = 64;      // of the rate of batch normalisation's biases
  int whitening_images = 5000;  // the first ones
  double whitening_epsilon = 5e-4;
  int whitening_bias_epochs = 3;  // trained so long, then frozen
  int translation = 2;            // pixels in each direction
  int look_every = 5;             // steps between two averages
};

/// "full": widths 64, 256, 256. "small" and "tiny": the same network for computers without a GPU, and for tests.
std::vector<std::string> sizes();
/// Throws UsageError for a name that is not one of sizes().
NetworkSpec network_of_size(const std::string& size);

/// Which rate and decay a parameter has.
enum class Group {
  frozen,          // the whitening weights, and batch normalisation's scale
  whitening_bias,  // frozen later
  bias,            // of a batch normalisation
  weight
};
/// By the parameter's name, as Classifier::parameters() has it.
Group group_of(const std::string& name);

/// The factor of the rate in step 0, 1, ... of `steps`: from 0.2 to 1 over the first 23 % of them, then to 0.07.
double triangle(int step, int steps);
/// The weight of the old average when it is renewed after `step` of `steps` steps: 0.95^5 * (step / steps)^3.
double look_ahead_decay(int step, int steps);

}  // namespace odori::race
