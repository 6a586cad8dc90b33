// SPDX-License-Identifier: Apache-2.0
// A half-open range of positions in a flat vector.
#pragma once

#include <cstddef>

namespace odori {

struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Parameters begin at multiples of 16 floats, a cache line: the first of them at or after this position.
constexpr std::size_t end_of_cache_line(std::size_t position) { return (position + 15) / 16 * 16; }

/// Part i of n parts of [0, size), [size i / n, size (i + 1) / n): their lengths differ by one at most.
constexpr Range even_part(std::size_t size, std::size_t i, std::size_t n) { return {size * i / n, size * (i + 1) / n}; }

/// Part i of n equal parts of [0, size); boundaries lie on multiples of 16 floats, a cache line.
inline Range slice(std::size_t size, std::size_t i, std::size_t n) {
  const auto boundary = [&](std::size_t k) { return k == n ? size : size * k / n / 16 * 16; };
  return {boundary(i), boundary(i + 1)};
}

}  // namespace odori
