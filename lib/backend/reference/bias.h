// SPDX-License-Identifier: Apache-2.0
// One number a channel: y[n, c, i, j] = x[n, c, i, j] + bias[c].
#pragma once

#include "backend/reference/array.h"

namespace odori::reference {

/// bias: 1 x C x 1 x 1.
template <typename T>
Array<T> add_bias(const Array<T>& x, const Array<T>& bias) {
  Array<T> y = x;
  const Shape& s = x.shape;
  for (int n = 0; n < s.n; ++n)
    for (int c = 0; c < s.c; ++c)
      for (int h = 0; h < s.h; ++h)
        for (int w = 0; w < s.w; ++w) y(n, c, h, w) += bias.values[c];
  return y;
}

/// The gradient of the bias; that of x is gy.
template <typename T>
Array<T> bias_gradient(const Array<T>& gy) {
  const Shape& s = gy.shape;
  Array<T> sums({1, s.c, 1, 1});
  for (int n = 0; n < s.n; ++n)
    for (int c = 0; c < s.c; ++c)
      for (int h = 0; h < s.h; ++h)
        for (int w = 0; w < s.w; ++w) sums.values[c] += gy(n, c, h, w);
  return sums;
}

}  // namespace odori::reference
