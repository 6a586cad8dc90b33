// SPDX-License-Identifier: Apache-2.0
// Gradients of known values, which each strategy is tried with. No header of a program includes this: an answer that
// knew these gradients would need no exchange. Learners can read the file, so a seed is part of the values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numbers/range.h"

namespace odori {

/// Gradients of which all is known, of layers with one or two parameters each. An iteration's are the same by all ways.
namespace trial {

/// What each way is tried with, one after the other: what it keeps from the first shows in the second. That one has
/// more iterations than a learner's own run measures, and another number with other layers, so that no number of an
/// iteration means "not the first".
struct Setting {
  int layers, iterations;
  std::uint64_t seed;
};
inline std::array<Setting, 2> settings(int layers, std::uint64_t seed) {
  return {{{layers, 4 + layers % 4, seed}, {1 + layers % 5, 30 + layers % 8, seed}}};
}
inline constexpr float rate = 0.125f, decay = 0.0625f;  // w -= rate * (gradient + decay * w)

/// The parameters of each layer, in forward's order.
inline std::vector<std::vector<Range>> layers(int n) {
  std::vector<std::vector<Range>> all;
  std::size_t position = 0;
  const auto next = [&](std::size_t size) {
    const Range range{end_of_cache_line(position), end_of_cache_line(position) + size};
    position = range.end;
    return range;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    all.push_back({next(20 + 37 * i % 90)});
    if (i % 3 != 1) all.back().push_back(next(10 + i));
  }
  return all;
}

/// An iteration whose gradients are all 0, on every rank. The weights decay all the same.
constexpr bool is_idle(int k) { return k == 2; }

/// Of position i, on this rank in iteration k, the last one or another: 0 at every fifth position, others in each
/// iteration, and everywhere in an idle one; elsewhere between 1 and 8 or as far below 0, in some iterations all of
/// them, and a sixteenth of that at every seventh. In the last one half precision holds the mean of all ranks, but not
/// what rank 1 has, nor the sum of two ranks', nor that by the square root of 2; every third rank's are small.
constexpr float gradient(std::uint64_t seed, int rank, int k, bool is_last, std::size_t i) {
  std::uint64_t mixed =
      (i + 1) * 0x9E3779B97F4A7C15u ^
      (static_cast<std::uint64_t>(rank * 64 + k) + 1 + seed * 0x2545F4914F6CDD1Du) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 31) * 0x94D049BB133111EBu;
  const auto part = static_cast<float>(mixed >> 54) / 1024;
  const bool is_zero = is_idle(k) || (i + static_cast<std::size_t>(k)) % 5 == 4;
  const float sign = is_zero ? 0 : k % 3 == 1 || i % 3 == 1 ? -1 : 1;
  const float large = rank == 1 ? 66000 + 4000 * part : 50000 + 10000 * part;
  return sign * (is_last && rank % 3 != 2 ? large : 1 + 7 * part) * (i % 7 == 3 ? 0.0625f : 1);
}
constexpr float first_weight(std::size_t i) { return 1 + static_cast<float>(i % 5); }

}  // namespace trial

}  // namespace odori
