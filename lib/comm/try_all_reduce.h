// A communicator's mean, tried on numbers of which all is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "comm/communicator.h"

namespace odori {

/// What rank `rank` brings at position i: a whole number from 1 to 1000, so that sums over 64 ranks are exact, and one
/// that looks like chance, so that a chunk at a wrong place or a rank that is missing shows.
constexpr float tried_number(int rank, std::size_t i) {
  std::uint64_t mixed =
      (std::uint64_t{i} + 1) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(rank) * 0xC2B2AE3D27D4EB4Fu;
  mixed ^= mixed >> 32;
  mixed *= 0xD6E8FEB86659FD93u;
  return static_cast<float>(1 + (mixed >> 32) % 1000);
}

/// Averages `length` such numbers by comm.mean(), in host memory, and compares them with MPI's mean. Rank 0 prints what
/// came of it, and how much was sent, beside what a ring sends. Collective.
void try_all_reduce(Communicator& comm, std::size_t length);

}  // namespace odori
