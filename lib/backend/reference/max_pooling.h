// SPDX-License-Identifier: Apache-2.0
// Max pooling: the maximum of each kernel x kernel window.
#pragma once

#include "backend/graph.h"
#include "backend/reference/array.h"

namespace odori::reference {

/// Calls work(n, c, h, w, xh, xw) with the position of the maximum in the window of y(n,c,h,w); of several, the first.
template <typename T, typename Work>
void for_each_maximum(const Array<T>& x, const PoolingSpec& spec, const Work& work) {
  const Shape y = spec.output(x.shape);
  for (int n = 0; n < y.n; ++n)
    for (int c = 0; c < y.c; ++c)
      for (int h = 0; h < y.h; ++h)
        for (int w = 0; w < y.w; ++w) {
          int best_h = h * spec.stride, best_w = w * spec.stride;
          for (int xh = h * spec.stride; xh < h * spec.stride + spec.kernel; ++xh)
            for (int xw = w * spec.stride; xw < w * spec.stride + spec.kernel; ++xw)
              if (x(n, c, xh, xw) > x(n, c, best_h, best_w)) best_h = xh, best_w = xw;
          work(n, c, h, w, best_h, best_w);
        }
}

template <typename T>
Array<T> max_pooling(const Array<T>& x, const PoolingSpec& spec) {
  Array<T> y(spec.output(x.shape));
  for_each_maximum(x, spec, [&](int n, int c, int h, int w, int xh, int xw) { y(n, c, h, w) = x(n, c, xh, xw); });
  return y;
}

/// Adds each window's gradient at the position of its maximum.
template <typename T>
Array<T> max_pooling_backward(const Array<T>& x, const PoolingSpec& spec, const Array<T>& gy) {
  Array<T> gx(x.shape);
  for_each_maximum(x, spec, [&](int n, int c, int h, int w, int xh, int xw) { gx(n, c, xh, xw) += gy(n, c, h, w); });
  return gx;
}

}  // namespace odori::reference
