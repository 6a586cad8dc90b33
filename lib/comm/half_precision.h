// SPDX-License-Identifier: Apache-2.0
// 16-bit elements, two of them in the place of a float, so that code that sends floats sends them as well.
//
// They are kept as fp32 on each rank, and added in fp32: 16 bits are sent. Rounding is to the nearest, to even
// where two are as near. What is too large becomes infinite; values too small for fp16 become subnormal, then 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numbers/dtype.h"

namespace odori {

/// How many floats hold that many 16-bit elements.
constexpr std::size_t packed_size(std::size_t numbers) { return (numbers + 1) / 2; }

/// factor * number, for each; a last half that is left is 0. `packed` holds packed_size() floats.
void pack(Dtype dtype, float factor, std::span<const float> numbers, std::span<float> packed);
/// Back to fp32. Returns how many of the elements are infinite or nan.
std::int64_t unpack(Dtype dtype, std::span<const float> packed, std::span<float> numbers);
/// to += from, each of the packed elements, rounded once.
void add_packed(Dtype dtype, const void* from, void* to, std::size_t n_packed);

// ---- Of algorithms that take both: fp32, or packed elements.
/// Adds `values` to as many of `to`.
void add(Dtype dtype, std::span<float> to, std::span<const float> values);
/// Multiplies by 1/n. Packed elements were multiplied before they were packed.
void divide(Dtype dtype, std::span<float> values, int n);

}  // namespace odori
