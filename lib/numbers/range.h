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

/// Rounds up to a multiple of 16 floats, a cache line, where a parameter may begin.
constexpr std::size_t end_of_cache_line(std::size_t position) { return (position + 15) / 16 * 16; }

/// Part i of n parts of [0, size): [size i / n, size (i + 1) / n). Lengths differ by at most one.
constexpr Range even_part(std::size_t size, std::size_t i, std::size_t n) { return {size * i / n, size * (i + 1) / n}; }

/// Part i of n nearly equal parts of [0, size), with boundaries at multiples of 16 floats, a cache line.
inline Range slice(std::size_t size, std::size_t i, std::size_t n) {
  const auto boundary = [&](std::size_t k) { return k == n ? size : size * k / n / 16 * 16; };
  return {boundary(i), boundary(i + 1)};
}

}  // namespace odori
