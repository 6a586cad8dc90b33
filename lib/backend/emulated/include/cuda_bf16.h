// SPDX-License-Identifier: Apache-2.0
// Provides CUDA's bfloat16: the upper half of a float, rounded to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

struct alignas(2) __nv_bfloat16 {
  std::uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  if (x != x) return {0x7fff};
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline std::uint16_t __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
