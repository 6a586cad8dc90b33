// SPDX-License-Identifier: Apache-2.0
// The precision of a device's graphs. Parameters, their gradients and all sums are always fp32.
#pragma once

namespace odori {

/// tf32: fp32 in memory; convolutions and linear layers round their operands to 10 bits of mantissa (tensor cores). Not
/// on CPU devices. bf16: activations, their gradients and a copy of the weights in bf16, with half the memory, and
/// tensor cores or a CPU's AMX.
enum class Precision { fp32, tf32, bf16 };

/// True if this CPU has AMX, and oneDNN may use it.
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
