// SPDX-License-Identifier: Apache-2.0
// Element-wise operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "backend/graph.h"
#include "backend/random_rules.h"
#include "backend/reference/array.h"

namespace odori::reference {

/// Rectified linear unit: y = max(x, 0).
template <typename T>
Array<T> relu(const Array<T>& x) {
  Array<T> y(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i) y.values[i] = std::max(x.values[i], T(0));
  return y;
}

/// gx = gy where y > 0, else 0.
template <typename T>
Array<T> relu_backward(const Array<T>& y, const Array<T>& gy) {
  Array<T> gx(y.shape);
  for (std::size_t i = 0; i < y.values.size(); ++i) gx.values[i] = y.values[i] > 0 ? gy.values[i] : T(0);
  return gx;
}

// Gaussian error linear unit: y = x * P(Z <= x) for a standard normal Z.

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

// One bias per channel: y[n, c, i, j] = x[n, c, i, j] + bias[c].

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

// Inverted dropout: kept elements are divided by 1 - ratio, which preserves the expected value, so evaluation needs no
// scaling. Source: N. Srivastava et al., 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".

/// Returns for each element of a tensor, in plain order, whether dropout layer `layer` keeps it.
inline std::vector<bool> dropout_mask(const Shape& s, float ratio, const RandomKey& key, std::uint32_t layer) {
  std::vector<bool> kept;
  for (int n = 0; n < s.n; ++n)
    for (int c = 0; c < s.c; ++c)
      for (int h = 0; h < s.h; ++h)
        for (int w = 0; w < s.w; ++w)
          kept.push_back(dropout_bits(key, layer, dropout_element(s, n, c, h, w)) >= dropout_threshold(ratio));
  return kept;
}

/// Backward uses the same function: gx = dropout(gy, ratio, kept).
template <typename T>
Array<T> dropout(const Array<T>& x, float ratio, const std::vector<bool>& kept) {
  Array<T> y(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    y.values[i] = kept[i] ? x.values[i] / (1 - static_cast<T>(ratio)) : T(0);
  return y;
}

/// Scaled logits y, and label smoothing: the cross-entropy of softmax(y) with 1 - smoothing for the label plus
/// smoothing / C for each class equals that with the label alone plus smoothing * (y[label] - mean of y).
template <typename T>
Array<T> logits(const Array<T>& x, const LogitsSpec& spec) {
  Array<T> y = x;
  for (T& value : y.values) value *= static_cast<T>(spec.scale);
  return y;
}

/// dL/dx from the gradient gy of the loss without smoothing. One label per sample.
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
