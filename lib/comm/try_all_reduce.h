// A communicator's mean, tried on numbers of which all is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/communicator.h"

namespace odori {

/// What the numbers at position i are counted in, on all ranks. Gradients are small, and have signs: some of these too.
constexpr float tried_unit(std::size_t i) { return i % 7 == 6 ? -0x1p-20f : 1.0f; }

/// Do all ranks bring the same at position i, as gradients can be the same by chance?
constexpr bool tried_alike(std::size_t i) { return i % 50 == 49; }

/// What rank `rank` brings at position i: so many units, a power of 4, of 8 that there are. Elsewhere than there, of up
/// to 8 ranks each brings another, so that a sum tells how often each rank is in it: 4 + 16 + 16 is one of them once
/// and another twice. Sums are exact.
constexpr float tried_number(int rank, std::size_t i) {
  const std::uint64_t mixed = (std::uint64_t{i} + 1) * 0x9E3779B97F4A7C15u;  // so that a chunk at a wrong place shows
  const auto own = static_cast<std::uint64_t>(tried_alike(i) ? 0 : rank);
  return tried_unit(i) * static_cast<float>(1 << 2 * ((own + (mixed >> 32)) % 8));
}

/// Averages `length` such numbers by comm.all_reduce_mean(), in host memory, and compares them with MPI's mean. Rank 0
/// prints what came of it, and how much was sent, beside what a ring sends. Collective.
void try_all_reduce(Communicator& comm, std::size_t length);

}  // namespace odori
