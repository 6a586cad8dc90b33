// SPDX-License-Identifier: Apache-2.0
// Adam, as algorithm 1 of its paper.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace odori::reference {

/// Update t = 1, 2, ... of parameters p by gradients g, with the moments m and v.
template <typename T>
void adam(std::vector<T>& p, const std::vector<T>& g, std::vector<T>& m, std::vector<T>& v, int t, T rate,
          T beta1 = 0.9, T beta2 = 0.999, T epsilon = 1e-8) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    const T corrected_m = m[i] / (1 - std::pow(beta1, t)), corrected_v = v[i] / (1 - std::pow(beta2, t));
    p[i] -= rate * corrected_m / (std::sqrt(corrected_v) + epsilon);
  }
}

}  // namespace odori::reference
