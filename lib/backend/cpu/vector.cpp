// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/vector.h"

#include <cmath>

#include "backend/cpu/simd.h"

namespace odori::cpu {

ODORI_SIMD_CLONES void axpy(float a, const float* __restrict x, float* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

ODORI_SIMD_CLONES void scale(float a, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] *= a;
}

ODORI_SIMD_CLONES void momentum_sgd(float* __restrict p, const float* __restrict g, float* __restrict v,
                                    MomentumFactors f, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float gradient = g[i] + f.decay * p[i];
    v[i] = f.momentum * v[i] + f.g_to_v * gradient;
    p[i] = p[i] + f.g_to_p * gradient + f.v_to_p * v[i];
  }
}

ODORI_SIMD_CLONES void adam(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v,
                            AdamFactors f, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = f.beta1 * m[i] + f.rest1 * g[i];
    v[i] = f.beta2 * v[i] + f.rest2 * g[i] * g[i];
    p[i] -= f.rate * m[i] / (f.scale * std::sqrt(v[i]) + f.epsilon);
  }
}

ODORI_SIMD_CLONES void look_ahead(float* __restrict slow, float* __restrict fast, float keep, std::size_t n) {
  const float take = 1 - keep;
  for (std::size_t i = 0; i < n; ++i) fast[i] = slow[i] = keep * slow[i] + take * fast[i];
}

ODORI_SIMD_CLONES void add_and_scale(float a, const float* __restrict x, float* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a * (y[i] + x[i]);
}

}  // namespace odori::cpu
