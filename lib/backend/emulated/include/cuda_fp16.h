// SPDX-License-Identifier: Apache-2.0
// Provides CUDA's half precision (IEEE binary16) in plain arithmetic. Rounds to nearest, ties to even; overflows to
// infinity, underflows to subnormals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

struct alignas(2) __half {
  std::uint16_t bits;
};

inline float __half2float(__half x) {
  const int exponent = x.bits >> 10 & 0x1f, mantissa = x.bits & 0x3ff;
  const float magnitude = exponent == 0x1f
                              ? (mantissa ? std::numeric_limits<float>::quiet_NaN() : INFINITY)
                              : std::ldexp(exponent == 0 ? mantissa : 1024 + mantissa, std::max(exponent, 1) - 25);
  return x.bits & 0x8000 ? -magnitude : magnitude;
}

inline __half __float2half_rn(float x) {
  if (x != x) return {0x7fff};
  const float magnitude = std::abs(x);
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (magnitude >= 65520) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
  // Includes the implicit leading bit, which adds 1 to the exponent below.
  const auto significand = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + significand))};
}

inline std::uint16_t __half_as_ushort(__half x) { return x.bits; }
