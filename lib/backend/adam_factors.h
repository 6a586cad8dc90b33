// SPDX-License-Identifier: Apache-2.0
// The factors of one update by Adam.
#pragma once

namespace odori {

/// Equal for all elements; optim/adam.cpp computes them in double:
///
///   m = beta1 * m + rest1 * g
///   v = beta2 * v + rest2 * g^2
///   p -= rate * m / (scale * sqrt(v) + epsilon)
///
/// rate = learning rate / (1 - beta1^t) and scale = 1 / sqrt(1 - beta2^t) correct the bias of the moments, which start
/// at 0, in update t = 1, 2, ...
struct AdamFactors {
  float beta1 = 0, rest1 = 0;  // rest1 = 1 - beta1
  float beta2 = 0, rest2 = 0;  // rest2 = 1 - beta2
  float rate = 0, scale = 0, epsilon = 0;
};

}  // namespace odori
