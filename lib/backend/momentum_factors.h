// SPDX-License-Identifier: Apache-2.0
// The factors of an update by SGD with momentum, per parameter group.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "numbers/range.h"

namespace odori {

/// One update of a parameter p by its gradient g and its velocity v:
///
///   g += decay * p;   v = momentum * v + g_to_v * g;   p += g_to_p * g + v_to_p * v
struct MomentumFactors {
  float decay = 0, momentum = 0;
  float g_to_v = 0, g_to_p = 0, v_to_p = 0;
  bool operator==(const MomentumFactors&) const = default;
};

/// v = momentum * v - rate * g; p += v. As Chainer's MomentumSGD. B. Polyak, 1964, "Some methods of speeding up the
/// convergence of iteration methods".
constexpr MomentumFactors polyak(float rate, float momentum, float decay = 0) {
  return {.decay = decay, .momentum = momentum, .g_to_v = -rate, .g_to_p = 0, .v_to_p = 1};
}

/// v = momentum * v + g; p -= rate * (g + momentum * v). As torch.optim.SGD with nesterov=True. Y. Nesterov, 1983, "A
/// method for solving the convex programming problem with convergence rate O(1/k^2)".
constexpr MomentumFactors nesterov(float rate, float momentum, float decay = 0) {
  return {.decay = decay, .momentum = momentum, .g_to_v = 1, .g_to_p = -rate, .v_to_p = -rate * momentum};
}

/// The factors of each parameter group, and which group each element of the flat vectors is in.
struct MomentumGroups {
  static constexpr std::size_t most = 8;
  struct Part {
    Range range;  // begins at a multiple of 16, as every parameter does
    std::size_t group = 0;
    bool operator==(const Part&) const = default;
  };

  MomentumGroups() = default;
  /// All elements have these factors.
  MomentumGroups(const MomentumFactors& all) : factors{all} {}

  std::array<MomentumFactors, most> factors;
  std::span<const Part> parts;  // ascending, cover all elements; empty: all are in group 0

  /// Calls work(Range, MomentumFactors) for each part of `range`.
  template <typename Work>
  void for_parts(Range range, const Work& work) const {
    if (parts.empty()) work(range, factors[0]);
    for (const Part& part : parts) {
      const Range common{std::max(range.begin, part.range.begin), std::min(range.end, part.range.end)};
      if (common.begin < common.end) work(common, factors[part.group]);
    }
  }
};

}  // namespace odori
