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

/// Calls row(n, o, i, kh, kw, h, w, xh, xw, count) for every row of products:
/// y(n,o,h,w+k) += x(n,i,xh,xw+k*stride) * weight(o,i,kh,kw) for every k < count.
template <typename Row>
void for_each_row(const Shape& x, const Shape& y, const ConvolutionSpec& spec, const Row& row) {
  for (int kh = 0; kh < spec.kernel; ++kh)
    for (int kw = 0; kw < spec.kernel; ++kw) {
      const Range rows = outputs_inside(x.h, y.h, kh, spec), columns = outputs_inside(x.w, y.w, kw, spec);
      if (columns.begin == columns.end) continue;
      const int w = int(columns.begin), xw = w * spec.stride + kw - spec.padding;
      for (int n = 0; n < x.n; ++n)
        for (int o = 0; o < y.c; ++o)
          for (int i = 0; i < x.c; ++i)
            for (int h = int(rows.begin); h < int(rows.end); ++h)
              row(n, o, i, kh, kw, h, w, h * spec.stride + kh - spec.padding, xw, int(columns.end) - w);
    }
}

/// x: N x I x H x W, weight: O x I x kernel x kernel.
template <typename T>
Array<T> convolution(const Array<T>& x, const ConvolutionSpec& spec, const Array<T>& weight) {
  Array<T> y(spec.output(x.shape));
  for_each_row(x.shape, y.shape, spec,
               [&](int n, int o, int i, int kh, int kw, int h, int w, int xh, int xw, int count) {
                 T* const to = &y(n, o, h, w);
                 const T* const from = &x(n, i, xh, xw);
                 const T factor = weight(o, i, kh, kw);
                 for (int k = 0; k < count; ++k) to[k] += from[k * spec.stride] * factor;
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
  for_each_row(x.shape, gy.shape, spec,
               [&](int n, int o, int i, int kh, int kw, int h, int w, int xh, int xw, int count) {
                 const T* const gy_row = &gy(n, o, h, w);
                 const T* const x_row = &x(n, i, xh, xw);
                 T* const gx_row = &g.x(n, i, xh, xw);
                 const T factor = weight(o, i, kh, kw);
                 T sum = g.weight(o, i, kh, kw);
                 for (int k = 0; k < count; ++k) {
                   gx_row[k * spec.stride] += gy_row[k] * factor;
                   sum += gy_row[k] * x_row[k * spec.stride];
                 }
                 g.weight(o, i, kh, kw) = sum;
               });
  return g;
}

}  // namespace odori::reference
