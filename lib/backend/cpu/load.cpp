// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/load.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/parallel.h"
#include "backend/random_rules.h"
#include "errors/error.h"

namespace odori::cpu {
namespace {

constexpr int side = Example::side, channels = Example::channels;
using Plane = std::array<float, side * side>;

/// One colour of an image, moved and turned and normalised: y = (byte / 255 - mean) / deviation.
void read_plane(const std::uint8_t* pixels, const Augmentation& moved, bool reflect, float mean, float deviation,
                Plane& plane) {
  const float factor = 1.0f / (255.0f * deviation), shift = -mean / deviation;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      int from_y = y + moved.dy, from_x = (moved.flip ? side - 1 - x : x) + moved.dx;
      if (reflect) from_y = reflected(from_y, side), from_x = reflected(from_x, side);
      const bool inside = from_y >= 0 && from_y < side && from_x >= 0 && from_x < side;
      const float byte = inside ? static_cast<float>(pixels[from_y * side + from_x]) : 0.0f;
      plane[static_cast<std::size_t>(y * side + x)] = byte * factor + shift;
    }
}

}  // namespace

void Loader::load(const Batch& batch, const RandomKey& key, const Shape& shape, float* input, Labels& labels) {
  const std::size_t n = batch.examples.size();
  const Transform& transform = batch.transform;
  require(n <= static_cast<std::size_t>(shape.n), "A batch of {} images doesn't fit a model made for batches of {}.", n,
          shape.n);
  require(shape.c == channels && shape.h == transform.image_size && shape.w == transform.image_size,
          "Images of {}x{}x{} don't fit a model made for {}x{}x{}. Load the data and create the network with the "
          "same image size.",
          channels, transform.image_size, transform.image_size, shape.c, shape.h, shape.w);
  prepare(transform.image_size);
  labels.size = n;
  for (std::size_t i = 0; i < n; ++i) {
    labels.label[i] = batch.examples[i].label;
    labels.counted[i] = batch.examples[i].counted;
  }
  const auto image = static_cast<std::size_t>(shape.features());
  parallel(n, 1, [&](Range part) {
    for (std::size_t i = part.begin; i < part.end; ++i)
      load_image(batch.examples[i], transform,
                 augmentation(key, transform, static_cast<std::uint32_t>(i), batch.examples[i].own), input + i * image);
  });
  std::memset(input + n * image, 0, (static_cast<std::size_t>(shape.n) - n) * image * sizeof(float));
}

void Loader::prepare(int size) {
  if (size == size_) return;
  size_ = size;
  between_.clear();
  for (int i = 0; i < size; ++i) {
    const float at = (static_cast<float>(i) + 0.5f) * side / static_cast<float>(size) - 0.5f;
    const float clamped = std::clamp(at, 0.0f, static_cast<float>(side - 1));
    const int first = static_cast<int>(clamped);
    between_.push_back({first, std::min(first + 1, side - 1), clamped - static_cast<float>(first)});
  }
}

void Loader::load_image(const Example& example, const Transform& transform, const Augmentation& moved,
                        float* to) const {
  const auto size = static_cast<std::size_t>(size_);
  Plane plane;
  for (std::size_t c = 0; c < channels; ++c, to += size * size) {
    read_plane(example.pixels + c * side * side, moved, transform.reflect, transform.mean[c], transform.deviation[c],
               plane);
    if (size_ == side) {
      std::copy(plane.begin(), plane.end(), to);
      continue;
    }
    for (std::size_t y = 0; y < size; ++y) {
      const float* above = plane.data() + between_[y].first * side;
      const float* below = plane.data() + between_[y].second * side;
      std::array<float, side> row;  // between the two
      for (std::size_t x = 0; x < side; ++x) row[x] = above[x] + (below[x] - above[x]) * between_[y].part;
      for (std::size_t x = 0; x < size; ++x) {
        const Between& b = between_[x];
        const float left = row[static_cast<std::size_t>(b.first)], right = row[static_cast<std::size_t>(b.second)];
        to[y * size + x] = left + (right - left) * b.part;
      }
    }
  }
}

}  // namespace odori::cpu
