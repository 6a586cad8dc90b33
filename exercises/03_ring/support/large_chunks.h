// SPDX-License-Identifier: Apache-2.0
// Large chunks that the grader tries a learner's begin_of_chunk() with. No program includes them.
#pragma once

#include <cstddef>

namespace odori {

/// A chunk of a large network's gradients on many ranks: c * length needs more than 32 bits.
struct LargeChunk {
  std::size_t c, n, length;
};

/// In the first, c / n * length is rounded below its value, in float, double and long double; in the second,
/// length / n * (c + 1) is.
inline constexpr LargeChunk large_chunks[]{{1942, 3001, 36'879'289}, {2999, 3000, 50'000'017}};

}  // namespace odori
