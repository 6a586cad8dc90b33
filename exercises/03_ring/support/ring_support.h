// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 03: the chunks of a vector, and a test of the learner's all-reduce.
#pragma once

#include <cstddef>
#include <span>

#include "comm/communicator.h"

namespace odori {

/// Where chunk c of n begins, in a vector of `length` elements.
using BeginOfChunk = std::size_t (*)(std::size_t c, std::size_t n, std::size_t length);

/// Returns chunk c of n, 0 <= c < n: from element begin(c, n, length) to before begin(c + 1, n, length). Throws Error
/// if there is no such chunk, or if it is not within `numbers`.
std::span<float> chunk_of(std::span<float> numbers, int c, int n, BeginOfChunk begin);

/// Averages `length` known values by comm.all_reduce_mean(), in host memory, and compares the result with MPI's mean.
/// Rank 0 prints the result and how much was sent, next to what a ring sends. Collective.
/// If ./odori simulate asks for it, runs the function of comm on simulated ranks instead (simulate_ring.h).
void try_all_reduce(Communicator& comm, std::size_t length);

}  // namespace odori
