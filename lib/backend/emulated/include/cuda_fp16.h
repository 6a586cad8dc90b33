// IEEE's binary16, by plain arithmetic: rounded to the nearest, ties to even; too large is infinite, too small
// subnormal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

struct alignas(2) __half {
  std::uint16_t bits;
};

inline float __half2float(__half x) {
  const int exponent = x.bits >> 10 & 0x1f, rest = x.bits & 0x3ff;
  const float size = exponent == 0x1f ? (rest ? std::numeric_limits<float>::quiet_NaN() : INFINITY)
                                      : std::ldexp(exponent == 0 ? rest : 1024 + rest, std::max(exponent, 1) - 25);
  return x.bits & 0x8000 ? -size : size;
}

inline __half __float2half_rn(float x) {
  if (x != x) return {0x7fff};
  const float size = std::abs(x);
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (size >= 65520) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  const int exponent = size > 0 ? std::max(std::ilogb(size), -14) : -14;
  const auto last_places = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return {static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + last_places))};
}

inline std::uint16_t __half_as_ushort(__half x) { return x.bits; }
