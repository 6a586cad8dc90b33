// SPDX-License-Identifier: Apache-2.0
// What a model is given: examples, and what happens to them on their way into the network.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace odori {

/// How an image is moved and turned: pixel (y, x) of the result is pixel (y + dy, x + dx) of the original, or that of
/// the mirrored column if it is flipped. Enlargement comes after.
struct Augmentation {
  int dy = 0, dx = 0;
  bool flip = false;
};

/// What happens to an image on its way into the network.
struct Transform {
  int image_size = 32;                 // enlarged to this height and width (bilinear)
  std::array<float, 3> mean{0, 0, 0};  // of the values in [0, 1], per channel: y = (x - mean) / deviation
  std::array<float, 3> deviation{1, 1, 1};
  int crop_padding = 0;  // random crop out of the image with this border of zeros (pixels)
  bool flip = false;     // random left-right flip
  // Around the image: false: black; true: the image mirrored at its outermost pixels, which are not repeated.
  bool reflect = false;
};

/// One image: three planes (red, green, blue) of 32 x 32 bytes, row-major, as CIFAR's files have it. The bytes
/// belong to the data set.
struct Example {
  static constexpr int side = 32, channels = 3, bytes = channels * side * side;
  const std::uint8_t* pixels = nullptr;
  int label = 0;
  std::int64_t id = 0;    // its position in the whole data set, before any split
  bool counted = true;    // false: another shard owns it, so this one's evaluation leaves it out
  Augmentation own = {};  // each time it is loaded; a transform's random one is added to it. At most 31 pixels
};

/// The bytes of all images of a data set, so that a device with memory of its own can keep a copy of them.
/// They do not change while this object lives.
struct ImageStorage {
  std::vector<std::span<const std::uint8_t>> parts;
};
using ImageStoragePtr = std::shared_ptr<const ImageStorage>;

/// What an iterator hands to a model. Transform and storage are the data set's; without a storage, devices copy the
/// images of each batch.
struct Batch {
  std::vector<Example> examples;
  Transform transform;
  ImageStoragePtr storage;
};

}  // namespace odori
