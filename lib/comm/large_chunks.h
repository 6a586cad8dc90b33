// What the grader tries a learner's begin_of_chunk() with. Apart from chunk_of.h, and so from what blanks can name.
#pragma once

#include <cstddef>

namespace odori {

/// A chunk of a large network's gradients on many ranks, where c * length is more than 32 bits hold.
struct LargeChunk {
  std::size_t c, n, length;
};

/// The grader looks at these too. In the first, c / n * length comes to less than it is, in floats, doubles and long
/// doubles, and in the second, length / n * (c + 1).
inline constexpr LargeChunk large_chunks[]{{1942, 3001, 36'879'289}, {2999, 3000, 50'000'017}};

}  // namespace odori
