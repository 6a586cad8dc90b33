// A vector that is cut into chunks, one a rank.
#pragma once

#include <cstddef>
#include <span>

#include "core/error.h"

namespace odori {

/// Chunk c of n, 0 <= c < n: from number begin(c, n, length) to the one before begin(c + 1, n, length). Throws Error
/// for a chunk that there isn't, and for one that isn't within the numbers.
template <typename Begin>
std::span<float> chunk_of(std::span<float> numbers, int c, int n, Begin begin) {
  require(c >= 0 && c < n, "chunk_of: there is no chunk {} of {}. They are counted from 0.", c, n);
  const auto index = static_cast<std::size_t>(c), chunks = static_cast<std::size_t>(n);
  const std::size_t first = begin(index, chunks, numbers.size()), last = begin(index + 1, chunks, numbers.size());
  require(first <= last && last <= numbers.size(),
          "chunk_of: chunk {} of {} begins at {} and ends at {}, of {} numbers.", c, n, first, last, numbers.size());
  return numbers.subspan(first, last - first);
}

}  // namespace odori
