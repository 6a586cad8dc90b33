// SPDX-License-Identifier: Apache-2.0
// Conversion between fp32 and bf16, the upper half of fp32: its range, and 8 bits of precision.
#pragma once

#include <bit>
#include <cstdint>

namespace odori {

/// Branch-free, so that loops with it are vectorised.
struct Bf16 {
  /// Rounds to nearest, ties to even.
  static std::uint16_t from(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40u;
    return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
  static float to_float(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }
};

}  // namespace odori
