// SPDX-License-Identifier: Apache-2.0
// Rectified linear unit: y = max(x, 0).
#pragma once

#include <algorithm>

#include "backend/reference/array.h"

namespace odori::reference {

template <typename T>
Array<T> relu(const Array<T>& x) {
  Array<T> y(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i) y.values[i] = std::max(x.values[i], T(0));
  return y;
}

/// The gradient passes where the output is positive; at 0 it is 0.
template <typename T>
Array<T> relu_backward(const Array<T>& y, const Array<T>& gy) {
  Array<T> gx(y.shape);
  for (std::size_t i = 0; i < y.values.size(); ++i) gx.values[i] = y.values[i] > 0 ? gy.values[i] : T(0);
  return gx;
}

}  // namespace odori::reference
