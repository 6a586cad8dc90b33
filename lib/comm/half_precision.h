// SPDX-License-Identifier: Apache-2.0
// Packs two 16-bit elements into each float, so that code that sends floats can send them.
//
// Only messages have 16 bits: ranks store and add fp32. Rounds to nearest, ties to even. Values that are too large
// become infinite; values too small for fp16 become subnormal, then 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numbers/dtype.h"

namespace odori {

/// Number of floats that hold n 16-bit elements.
constexpr std::size_t packed_size(std::size_t n) { return (n + 1) / 2; }

/// Packs factor * x for each element x; an unused last half is 0. `packed`: packed_size() floats.
void pack(Dtype dtype, float factor, std::span<const float> values, std::span<float> packed);
/// Converts back to fp32. Returns the number of infinite or NaN elements.
std::int64_t unpack(Dtype dtype, std::span<const float> packed, std::span<float> values);
/// to += from for packed elements, rounded once. `n_packed`: floats.
void add_packed(Dtype dtype, const void* from, void* to, std::size_t n_packed);

// ---- For algorithms on fp32 or packed elements
/// to[i] += values[i] for all of `to`.
void add(Dtype dtype, std::span<float> to, std::span<const float> values);
/// Multiplies fp32 by 1/n. Does nothing for packed elements, which were divided before packing.
void divide(Dtype dtype, std::span<float> values, int n);

}  // namespace odori
