// SPDX-License-Identifier: Apache-2.0
// Inverted dropout: what is kept is divided by 1 - ratio, so that the expected value does not change, and evaluation
// needs nothing. Source: N. Srivastava et al., 2014, "Dropout: A Simple Way to Prevent Neural Networks from
// Overfitting".
#pragma once

#include <vector>

#include "backend/random_rules.h"
#include "backend/reference/array.h"

namespace odori::reference {

/// Which elements of a tensor are kept by dropout layer number `layer`, in plain order.
inline std::vector<bool> dropout_mask(const Shape& s, float ratio, const RandomKey& key, std::uint32_t layer) {
  std::vector<bool> kept;
  for (int n = 0; n < s.n; ++n)
    for (int c = 0; c < s.c; ++c)
      for (int h = 0; h < s.h; ++h)
        for (int w = 0; w < s.w; ++w)
          kept.push_back(dropout_bits(key, layer, dropout_element(s, n, c, h, w)) >= dropout_threshold(ratio));
  return kept;
}

/// Backward is the same: gx = dropout(gy, ratio, kept).
template <typename T>
Array<T> dropout(const Array<T>& x, float ratio, const std::vector<bool>& kept) {
  Array<T> y(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    y.values[i] = kept[i] ? x.values[i] / (1 - static_cast<T>(ratio)) : T(0);
  return y;
}

}  // namespace odori::reference
