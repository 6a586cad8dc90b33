// SPDX-License-Identifier: Apache-2.0
// The precision in which a device trains. Parameters, their gradients, and all sums are fp32 everywhere.
#pragma once

namespace odori {

/// tf32: fp32 in memory; convolutions and linear layers round their factors to 10 bits of mantissa (tensor cores).
/// bf16: activations, their gradients and a copy of the weights in bf16: half the memory, and tensor cores, or AMX of a
/// CPU. CPU devices have no tf32.
enum class Precision { fp32, tf32, bf16 };

/// Does this processor, as oneDNN may use it, have AMX?
bool cpu_has_bf16();

constexpr const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::bf16:
      return "bf16";
  }
  return "";
}

}  // namespace odori
