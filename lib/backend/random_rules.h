// SPDX-License-Identifier: Apache-2.0
// Random decisions of a training step: dropout masks, crops and flips. They depend on the RandomKey only, not on
// threads, layouts or the order of execution, so they are equal on all backends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/graph.h"
#include "numbers/random.h"

namespace odori {

/// Dropout keeps an element if its 16 random bits are not below this threshold: the ratio, rounded to 1/65536.
inline std::uint32_t dropout_threshold(float ratio) { return static_cast<std::uint32_t>(ratio * 65536.0f + 0.5f); }

/// One Philox block of a dropout layer. `layer`: 0, 1, ... in the order of the graph.
constexpr Philox::Block dropout_block(const RandomKey& key, std::uint32_t layer, std::uint32_t block) {
  return Philox::block({block, static_cast<std::uint32_t>(key.step), key.stream,
                        static_cast<std::uint32_t>(RandomUse::dropout) | layer << 8},
                       key.seed);
}

/// Index of an element for dropout, in the order nChw16c (channels in groups of 16). So 16 neighbours use the same bits
/// of 16 consecutive blocks, and random numbers are drawn in vectors.
constexpr std::size_t dropout_element(const Shape& s, int n, int c, int h, int w) {
  const std::size_t groups = (static_cast<std::size_t>(s.c) + 15) / 16, c_ = static_cast<std::size_t>(c);
  const std::size_t image_and_group = static_cast<std::size_t>(n) * groups + c_ / 16;
  return ((image_and_group * s.h + h) * s.w + w) * 16 + c_ % 16;
}

/// The 16 random bits of an element: 128 elements share 16 blocks of 8 x 16 bits.
constexpr std::uint32_t dropout_bits(const RandomKey& key, std::uint32_t layer, std::size_t element) {
  const std::size_t block = element / 128 * 16 + element % 16, part = element % 128 / 16;
  return dropout_block(key, layer, static_cast<std::uint32_t>(block))[part / 2] >> part % 2 * 16 & 0xffff;
}

/// The shift and flip of image `i` of a batch: random ones by `transform`, combined with the example's `own`
/// (shifts add up, two flips cancel).
constexpr Augmentation augmentation(const RandomKey& key, const Transform& transform, std::uint32_t i,
                                    const Augmentation& own = {}) {
  const Philox::Block random = Philox::block(
      {i, static_cast<std::uint32_t>(key.step), key.stream, static_cast<std::uint32_t>(RandomUse::augmentation)},
      key.seed);
  const auto shift = [&](std::uint32_t bits) {  // -padding .. padding
    const auto choices = static_cast<std::uint64_t>(2 * transform.crop_padding + 1);
    return static_cast<int>(bits * choices >> 32) - transform.crop_padding;
  };
  const bool flip = transform.flip && (random[2] & 1) != 0;
  return {own.dy + shift(random[0]), own.dx + shift(random[1]), own.flip != flip};
}

/// Reflection padding: the row or column of an image with `side` rows that coordinate i shows. Requires -side < i < 2 *
/// side - 1.
constexpr int reflected(int i, int side) { return i < 0 ? -i : i < side ? i : 2 * (side - 1) - i; }

}  // namespace odori
