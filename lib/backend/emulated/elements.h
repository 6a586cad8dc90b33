// SPDX-License-Identifier: Apache-2.0
// Provides conversion between elements in a GPU's memory (fp32 or bf16) and floats, for the emulated libraries.
#pragma once

#include <cuda_bf16.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace odori::emulator {

/// Rounds to tf32, as tensor cores do: 10 bits of mantissa, to nearest.
inline float round_to_tf32(float x) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000) & 0xffffe000);
}

inline std::vector<float> read_elements(const void* memory, bool bf16, std::size_t n, bool tf32) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const float x =
        bf16 ? __bfloat162float(static_cast<const __nv_bfloat16*>(memory)[i]) : static_cast<const float*>(memory)[i];
    values[i] = tf32 ? round_to_tf32(x) : x;
  }
  return values;
}

inline void write_elements(const std::vector<float>& values, void* memory, bool bf16) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bf16)
      static_cast<__nv_bfloat16*>(memory)[i] = __float2bfloat16_rn(values[i]);
    else
      static_cast<float*>(memory)[i] = values[i];
  }
}

}  // namespace odori::emulator
