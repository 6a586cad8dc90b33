// SPDX-License-Identifier: Apache-2.0
// The type of gradients in messages between ranks.
#pragma once

#include <cstddef>

namespace odori {

/// fp16: IEEE's binary16, 11 bits of precision, 65504 at most. bf16: fp32's upper half, 8 bits, fp32's range.
enum class Dtype { fp32, fp16, bf16 };

constexpr const char* to_string(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return "fp32";
    case Dtype::fp16:
      return "fp16";
    case Dtype::bf16:
      return "bf16";
  }
  return "";
}

constexpr std::size_t bytes_of(Dtype dtype) { return dtype == Dtype::fp32 ? 4 : 2; }

}  // namespace odori
