// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum, as in Chainer, and with Nesterov momentum, as in PyTorch.
#pragma once

#include <cstddef>
#include <vector>

namespace odori::reference {

/// v = momentum * v - rate * g;  p += v.
template <typename T>
void momentum_sgd(std::vector<T>& p, const std::vector<T>& g, std::vector<T>& v, T rate, T momentum) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    v[i] = momentum * v[i] - rate * g[i];
    p[i] += v[i];
  }
}

/// g += decay * p;  v = momentum * v + g;  p -= rate * (g + momentum * v).
template <typename T>
void nesterov_sgd(std::vector<T>& p, std::vector<T> g, std::vector<T>& v, T rate, T momentum, T decay) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    g[i] += decay * p[i];
    v[i] = momentum * v[i] + g[i];
    p[i] -= rate * (g[i] + momentum * v[i]);
  }
}

}  // namespace odori::reference
