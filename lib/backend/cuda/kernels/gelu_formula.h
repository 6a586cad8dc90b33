// SPDX-License-Identifier: Apache-2.0
// Device code: the Gaussian error linear unit of one element, with the same bits in every kernel.
#pragma once

#include <cuda_runtime.h>

namespace odori::cuda::kernels {

/// P(Z <= x) for a standard normal Z.
inline __device__ float cumulative(float x) { return 0.5f * (1 + erff(x * 0.70710678f)); }

inline __device__ float gelu_of(float x) { return __fmul_rn(x, cumulative(x)); }
/// g times the derivative at x.
inline __device__ float gelu_gradient(float x, float g) {
  const float density = 0.39894228f * expf(-0.5f * x * x);
  return __fmul_rn(g, fmaf(x, density, cumulative(x)));
}

}  // namespace odori::cuda::kernels
