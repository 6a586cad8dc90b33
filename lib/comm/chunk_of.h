// A vector that is cut into chunks, one a rank.
#pragma once

#include <cstddef>
#include <span>

namespace odori {

/// Where chunk c of n begins, among `length` numbers.
using BeginOfChunk = std::size_t (*)(std::size_t c, std::size_t n, std::size_t length);

/// Chunk c of n, 0 <= c < n: from number begin(c, n, length) to the one before begin(c + 1, n, length). Throws Error
/// for a chunk that there isn't, and for one that isn't within the numbers.
std::span<float> chunk_of(std::span<float> numbers, int c, int n, BeginOfChunk begin);

}  // namespace odori
