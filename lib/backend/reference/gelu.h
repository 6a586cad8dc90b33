// SPDX-License-Identifier: Apache-2.0
// Gaussian error linear unit: y = x * P(Z <= x) for a standard normal Z.
#pragma once

#include <cmath>
#include <numbers>

#include "backend/reference/array.h"

namespace odori::reference {

template <typename T>
T normal_cumulative(T x) {
  return (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2;
}

template <typename T>
Array<T> gelu(const Array<T>& x) {
  Array<T> y(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i) y.values[i] = x.values[i] * normal_cumulative(x.values[i]);
  return y;
}

template <typename T>
Array<T> gelu_backward(const Array<T>& x, const Array<T>& gy) {
  Array<T> gx(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const T a = x.values[i], density = std::exp(-a * a / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    gx.values[i] = gy.values[i] * (normal_cumulative(a) + a * density);
  }
  return gx;
}

}  // namespace odori::reference
