// SPDX-License-Identifier: Apache-2.0
// Convolution (cross-correlation, as in all deep-learning frameworks), without a bias.
//
//   y[n,o,h,w] = sum over i, kh, kw of  x[n, i, h * stride + kh - padding, w * stride + kw - padding] *
//   weight[o,i,kh,kw]
//
// where x is zero outside the image. Source: Y. LeCun et al., 1989, "Backpropagation Applied to Handwritten Zip Code
// Recognition".
#pragma once

#include "backend/graph.h"
#include "backend/reference/array.h"
#include "numbers/range.h"

namespace odori::reference {

/// Along one dimension: the outputs for which tap k of the kernel is inside the image.
inline Range outputs_inside(int x_side, int y_side, int k, const ConvolutionSpec& spec) {
  int begin = 0, end = y_side;
  while (begin < end && begin * spec.stride + k < spec.padding) ++begin;
  while (begin < end && (end - 1) * spec.stride + k - spec.padding >= x_side) --end;
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

/// Calls tap(n, o, i, kh, kw, h, w, xh, xw) for every product: y(n,o,h,w) += x(n,i,xh,xw) * weight(o,i,kh,kw).
template <typename Tap>
void for_each_tap(const Shape& x, const Shape& y, const ConvolutionSpec& spec, const Tap& tap) {
  for (int kh = 0; kh < spec.kernel; ++kh)
    for (int kw = 0; kw < spec.kernel; ++kw) {
      const Range rows = outputs_inside(x.h, y.h, kh, spec), columns = outputs_inside(x.w, y.w, kw, spec);
      for (int n = 0; n < x.n; ++n)
        for (int o = 0; o < y.c; ++o)
          for (int i = 0; i < x.c; ++i)
            for (int h = int(rows.begin); h < int(rows.end); ++h)
              for (int w = int(columns.begin); w < int(columns.end); ++w)
                tap(n, o, i, kh, kw, h, w, h * spec.stride + kh - spec.padding, w * spec.stride + kw - spec.padding);
    }
}

/// x: N x I x H x W, weight: O x I x kernel x kernel.
template <typename T>
Array<T> convolution(const Array<T>& x, const ConvolutionSpec& spec, const Array<T>& weight) {
  Array<T> y(spec.output(x.shape));
  for_each_tap(x.shape, y.shape, spec, [&](int n, int o, int i, int kh, int kw, int h, int w, int xh, int xw) {
    y(n, o, h, w) += x(n, i, xh, xw) * weight(o, i, kh, kw);
  });
  return y;
}

template <typename T>
struct ConvolutionGradients {
  Array<T> x, weight;
};

/// Computes dL/dx and dL/dweight from gy = dL/dy.
template <typename T>
ConvolutionGradients<T> convolution_backward(const Array<T>& x, const ConvolutionSpec& spec, const Array<T>& weight,
                                             const Array<T>& gy) {
  ConvolutionGradients<T> g{Array<T>(x.shape), Array<T>(weight.shape)};
  for_each_tap(x.shape, gy.shape, spec, [&](int n, int o, int i, int kh, int kw, int h, int w, int xh, int xw) {
    g.x(n, i, xh, xw) += gy(n, o, h, w) * weight(o, i, kh, kw);
    g.weight(o, i, kh, kw) += gy(n, o, h, w) * x(n, i, xh, xw);
  });
  return g;
}

}  // namespace odori::reference
