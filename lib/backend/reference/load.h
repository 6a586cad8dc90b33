// SPDX-License-Identifier: Apache-2.0
// Preprocessing from an image's bytes to a network's input: crop and flip, enlargement, normalisation.
#pragma once

#include <algorithm>
#include <cmath>

#include "backend/random_rules.h"
#include "backend/reference/array.h"
#include "data/batch.h"

namespace odori::reference {

/// Shifts and flips an image, and maps bytes 0 .. 255 to [0, 1]. Outside the original: black or reflected. 1 x 3 x 32 x
/// 32.
template <typename T>
Array<T> moved_and_turned(const Example& example, const Augmentation& how, bool reflect) {
  const int side = Example::side;
  Array<T> out({1, Example::channels, side, side});
  for (int c = 0; c < Example::channels; ++c)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        int from_y = y + how.dy, from_x = (how.flip ? side - 1 - x : x) + how.dx;
        if (reflect) from_y = reflected(from_y, side), from_x = reflected(from_x, side);
        if (from_y < 0 || from_y >= side || from_x < 0 || from_x >= side) continue;
        out(0, c, y, x) = static_cast<T>(example.pixels[(c * side + from_y) * side + from_x]) / 255;
      }
  return out;
}

/// Bilinear enlargement to size x size. Pixel centres are at half integers, edges are repeated: pixel i is at (i + 1/2)
/// * 32 / size - 1/2 of the original.
template <typename T>
Array<T> enlarged(const Array<T>& image, int size) {
  const int side = image.shape.h;
  const auto place = [&](int i) { return std::clamp<T>((i + T(0.5)) * side / size - T(0.5), 0, side - 1); };
  Array<T> out({1, image.shape.c, size, size});
  for (int c = 0; c < image.shape.c; ++c)
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const int top = static_cast<int>(place(y)), bottom = std::min(top + 1, side - 1);
        const int left = static_cast<int>(place(x)), right = std::min(left + 1, side - 1);
        const T down = place(y) - top, along = place(x) - left;
        const T upper = (1 - along) * image(0, c, top, left) + along * image(0, c, top, right);
        const T lower = (1 - along) * image(0, c, bottom, left) + along * image(0, c, bottom, right);
        out(0, c, y, x) = (1 - down) * upper + down * lower;
      }
  return out;
}

/// Returns the network's input, 1 x 3 x image_size x image_size.
template <typename T>
Array<T> load(const Example& example, const Transform& transform, const Augmentation& how) {
  Array<T> out = enlarged(moved_and_turned<T>(example, how, transform.reflect), transform.image_size);
  for (int c = 0; c < out.shape.c; ++c)
    for (int y = 0; y < out.shape.h; ++y)
      for (int x = 0; x < out.shape.w; ++x)
        out(0, c, y, x) =
            (out(0, c, y, x) - static_cast<T>(transform.mean[c])) / static_cast<T>(transform.deviation[c]);
  return out;
}

}  // namespace odori::reference
