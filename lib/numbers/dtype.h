// SPDX-License-Identifier: Apache-2.0
// Element types of messages between ranks.
#pragma once

#include <cstddef>

namespace odori {

/// fp16: IEEE binary16, 11 bits of precision, at most 65504. bf16: the upper half of fp32, 8 bits of precision, fp32's
/// range.
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
