// SPDX-License-Identifier: Apache-2.0
// A linear (fully connected) layer: y[n,o] = sum over i of x[n,i] * weight[o,i], plus bias[o] if there is one. i runs
// over x's channels, rows and columns, in this order.
#pragma once

#include "backend/reference/array.h"

namespace odori::reference {

/// x: N x C x H x W, weight: O x (C*H*W), bias: O, or null. Returns N x O.
template <typename T>
Array<T> linear(const Array<T>& x, const Array<T>& weight, const Array<T>* bias) {
  const int outputs = weight.shape.n, inputs = x.shape.features();
  Array<T> y({x.shape.n, outputs, 1, 1});
  for (int n = 0; n < x.shape.n; ++n)
    for (int o = 0; o < outputs; ++o) {
      T sum = bias ? bias->values[o] : T(0);
      for (int i = 0; i < inputs; ++i) sum += x.values[n * inputs + i] * weight.values[o * inputs + i];
      y.values[n * outputs + o] = sum;
    }
  return y;
}

template <typename T>
struct LinearGradients {
  Array<T> x, weight, bias;
};

template <typename T>
LinearGradients<T> linear_backward(const Array<T>& x, const Array<T>& weight, const Array<T>& gy) {
  const int outputs = weight.shape.n, inputs = x.shape.features();
  LinearGradients<T> g{Array<T>(x.shape), Array<T>(weight.shape), Array<T>({1, outputs, 1, 1})};
  for (int n = 0; n < x.shape.n; ++n)
    for (int o = 0; o < outputs; ++o) {
      const T gyo = gy.values[n * outputs + o];
      g.bias.values[o] += gyo;
      for (int i = 0; i < inputs; ++i) {
        g.x.values[n * inputs + i] += gyo * weight.values[o * inputs + i];
        g.weight.values[o * inputs + i] += gyo * x.values[n * inputs + i];
      }
    }
  return g;
}

}  // namespace odori::reference
