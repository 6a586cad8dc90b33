// SPDX-License-Identifier: Apache-2.0
#include "numbers/random.h"

#include <cmath>
#include <numbers>

namespace odori {

void RandomSequence::fill_normal(std::span<float> values, float deviation) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const float radius = deviation * std::sqrt(-2.0f * std::log((static_cast<float>(next() >> 8) + 1.0f) * 0x1p-24f));
    const float angle = 2.0f * std::numbers::pi_v<float> * uniform();
    values[i] = radius * std::cos(angle);
    if (i + 1 < values.size()) values[i + 1] = radius * std::sin(angle);
  }
}

void RandomSequence::seek(std::uint64_t position) {
  position_ = position / 4 * 4;
  while (position_ < position) next();
}

std::vector<std::int64_t> random_permutation(std::size_t n, RandomSequence& random) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace odori
