// SPDX-License-Identifier: Apache-2.0
// The reference backend: every operation of graph.h as plain loops, forward and backward, in T = float or double. Tests
// compare the fast backends with it. Read it to learn what an operation does.
#pragma once

#include <cstddef>
#include <vector>

#include "numbers/shape.h"

namespace odori::reference {

/// A four-dimensional array, row-major: x(n, c, h, w). Convolution weights are w(o, i, kh, kw), linear weights O x I x
/// 1 x 1, vectors 1 x C x 1 x 1.
template <typename T>
struct Array {
  Shape shape;
  std::vector<T> values;

  Array() = default;
  explicit Array(const Shape& s) : shape(s), values(s.size()) {}  // zeros

  T& operator()(int n, int c, int h, int w) { return values[position(n, c, h, w)]; }
  const T& operator()(int n, int c, int h, int w) const { return values[position(n, c, h, w)]; }

 private:
  std::size_t position(int n, int c, int h, int w) const {
    return ((static_cast<std::size_t>(n) * shape.c + c) * shape.h + h) * shape.w + w;
  }
};

}  // namespace odori::reference
