// SPDX-License-Identifier: Apache-2.0
// Converts the bytes of a data set to the network's input.
#pragma once

#include <vector>

#include "backend/cpu/operation.h"
#include "backend/random_rules.h"

namespace odori::cpu {

/// Shifts, flips, enlarges and normalises the images of a batch.
class Loader {
 public:
  /// Fills `input`, plain N x 3 x size x size, and the labels. Throws Error if the batch doesn't fit the shape.
  void load(const Batch& batch, const RandomKey& key, const Shape& shape, float* input, Labels& labels);

 private:
  /// Interpolation of a pixel of the result: first * (1 - part) + second * part.
  struct Between {
    int first, second;
    float part;
  };
  void prepare(int size);
  void load_image(const Example& example, const Transform& transform, const Augmentation& moved, float* to) const;

  int size_ = 0;
  std::vector<Between> between_;
};

}  // namespace odori::cpu
