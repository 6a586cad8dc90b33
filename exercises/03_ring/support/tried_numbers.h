// SPDX-License-Identifier: Apache-2.0
// The values that try_all_reduce() averages. The grader's checks use them too; a program does not include them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace odori {

/// The unit of all ranks' values at position i. Gradients are small and have signs, so some units are small and
/// negative.
constexpr float tried_unit(std::size_t i) { return i % 7 == 6 ? -0x1p-20f : 1.0f; }

/// True if all ranks contribute the same value at position i, as gradients can be equal by chance.
constexpr bool tried_alike(std::size_t i) { return i % 50 == 49; }

/// The value of rank `rank` at position i: a multiple of the unit, one of 8 powers of 4. Unless tried_alike(i), up to 8
/// ranks contribute different powers, so that the digits of a sum show how often each rank is in it: 4 + 16 + 16
/// contains one rank once and another twice. Sums are exact.
constexpr float tried_number(int rank, std::size_t i) {
  const std::uint64_t mixed = (std::uint64_t{i} + 1) * 0x9E3779B97F4A7C15u;  // detects a chunk at a wrong place
  const auto own = static_cast<std::uint64_t>(tried_alike(i) ? 0 : rank);
  return tried_unit(i) * static_cast<float>(1 << 2 * ((own + (mixed >> 32)) % 8));
}

}  // namespace odori
