// SPDX-License-Identifier: Apache-2.0
// Scaled logits, and a loss of smoothed labels: the cross-entropy of softmax(y) with (1 - smoothing) for the label plus
// smoothing / C for each class is that with the label alone plus smoothing * (y[label] - mean of y).
#pragma once

#include <span>

#include "backend/graph.h"
#include "backend/reference/array.h"

namespace odori::reference {

template <typename T>
Array<T> logits(const Array<T>& x, const LogitsSpec& spec) {
  Array<T> y = x;
  for (T& value : y.values) value *= static_cast<T>(spec.scale);
  return y;
}

/// The gradient of x for a gradient gy of the loss without smoothing. One label a sample.
template <typename T>
Array<T> logits_backward(const Array<T>& gy, const LogitsSpec& spec, std::span<const int> labels) {
  Array<T> gx = gy;
  const int samples = gy.shape.n, classes = gy.shape.c;
  for (int n = 0; n < samples; ++n)
    for (int c = 0; c < classes; ++c) {
      const T change = (c == labels[n] ? T(1) : T(0)) - T(1) / classes;
      gx(n, c, 0, 0) =
          static_cast<T>(spec.scale) * (gy(n, c, 0, 0) + static_cast<T>(spec.smoothing) * change / samples);
    }
  return gx;
}

}  // namespace odori::reference
