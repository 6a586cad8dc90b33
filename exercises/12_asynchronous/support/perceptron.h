// SPDX-License-Identifier: Apache-2.0
// What exercise 12 trains on images: a perceptron with one hidden layer of 16 values, for each worker a sequence of
// batches, and test images.
#pragma once

#include <span>
#include <vector>

#include "data/serial_iterator.h"
#include "flags/arguments.h"
#include "mlp.h"

namespace odori {

class PerceptronOfWorkers {
 public:
  /// Throws Error if the data set cannot be loaded or has too few images for a batch.
  PerceptronOfWorkers(const Arguments& args, int batch_size, int n_workers);

  std::vector<float> initial_parameters() const;
  /// The mean gradient of this worker's next batch.
  std::vector<float> gradient_at(int worker, std::span<const float> parameters);
  /// On at most 1000 test images; 0 if a parameter is not finite.
  double accuracy(std::span<const float> parameters) const;
  int batch_size() const { return batch_size_; }
  /// Batches that all workers train on together, in `args.epoch` times all training images; at least 1.
  int n_gradients() const { return n_gradients_; }

 private:
  std::vector<mlp::Layer> layers_;
  std::vector<SerialIterator> iterators_;
  mlp::Images test_;
  int batch_size_, n_gradients_;
  std::uint64_t seed_;
};

}  // namespace odori
