// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy: with p = softmax(x), the mean of -log p[label] over the batch.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "backend/reference/array.h"

namespace odori::reference {

template <typename T>
struct SoftmaxCrossEntropy {
  std::vector<T> losses;      // one per sample; their mean is the loss
  std::vector<bool> correct;  // the label has the largest logit; of several, the first counts
  Array<T> gradient;          // of the mean loss: (p - [class is the label]) / N
};

/// x: N x classes; one label per sample.
template <typename T>
SoftmaxCrossEntropy<T> softmax_cross_entropy(const Array<T>& x, std::span<const int> labels) {
  const int samples = x.shape.n, classes = x.shape.c;
  SoftmaxCrossEntropy<T> out{{}, {}, Array<T>(x.shape)};
  for (int n = 0; n < samples; ++n) {
    const T* row = &x.values[static_cast<std::size_t>(n) * classes];
    const T* largest = std::max_element(row, row + classes);
    T sum = 0;  // of exp(x - largest): without the subtraction, exp overflows
    for (int c = 0; c < classes; ++c) sum += std::exp(row[c] - *largest);
    out.losses.push_back(std::log(sum) + *largest - row[labels[n]]);
    out.correct.push_back(largest == row + labels[n]);
    for (int c = 0; c < classes; ++c)
      out.gradient(n, c, 0, 0) = (std::exp(row[c] - *largest) / sum - (c == labels[n] ? 1 : 0)) / samples;
  }
  return out;
}

}  // namespace odori::reference
