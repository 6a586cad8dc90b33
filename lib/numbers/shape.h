// SPDX-License-Identifier: Apache-2.0
// The shape of a tensor: images x channels x height x width.
#pragma once

#include <cstddef>

namespace odori {

/// N x C x H x W. A vector a sample (after a linear layer) is N x C x 1 x 1.
struct Shape {
  int n = 0, c = 0, h = 1, w = 1;
  std::size_t size() const { return static_cast<std::size_t>(n) * c * h * w; }
  int features() const { return c * h * w; }
  bool operator==(const Shape&) const = default;
};

}  // namespace odori
