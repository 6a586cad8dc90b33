// The grader's own gradients and evaluation, in its own process and from its own files: what a run must have given.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/device_pool.h"
#include "model/classifier.h"
#include "runner/evidence.h"

namespace odori::grader {

/// One model on one device. The network has neither batch normalisation nor dropout, so that several devices on parts
/// of a batch must come to what one device comes to on the whole of it.
class Reference {
 public:
  /// Takes `n_images` at a time.
  Reference(const RunData& data, int n_images);
  /// The mean gradient of these training images, in any order, at these weights.
  std::vector<float> gradient(const std::vector<float>& weights, const Images& images);

 private:
  const RunData& data_;
  DevicePool pool_;
  Classifier model_;
};

/// The weights that a program begins with, by its --seed.
std::vector<float> first_weights(const RunData& data, std::uint64_t seed);

/// What evaluating these weights on these images of the test set must give.
EvaluationSeen evaluate(const RunData& data, const std::vector<float>& weights, const Images& images);

/// 0, 1, ... n-1: all images of a set.
Images whole_set(std::size_t n);

}  // namespace odori::grader
