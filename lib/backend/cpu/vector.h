// SPDX-License-Identifier: Apache-2.0
// Single-threaded arithmetic on n floats, for ranges of flat vectors.
#pragma once

#include <cstddef>

#include "backend/adam_factors.h"
#include "backend/momentum_factors.h"

namespace odori::cpu {

/// y += a * x
void axpy(float a, const float* x, float* y, std::size_t n);
/// y *= a
void scale(float a, float* y, std::size_t n);
/// See MomentumFactors.
void momentum_sgd(float* p, const float* g, float* v, MomentumFactors factors, std::size_t n);
/// See AdamFactors.
void adam(float* p, const float* g, float* m, float* v, AdamFactors factors, std::size_t n);
/// slow = keep * slow + (1 - keep) * fast; fast = slow
void look_ahead(float* slow, float* fast, float keep, std::size_t n);
/// y = a * (y + x)
void add_and_scale(float a, const float* x, float* y, std::size_t n);

}  // namespace odori::cpu
