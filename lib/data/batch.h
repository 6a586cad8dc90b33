// SPDX-License-Identifier: Apache-2.0
// Batches of examples, and the transforms between the stored bytes and the network's input.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace odori {

/// A shift and a flip of an image: pixel (y, x) of the result is pixel (y + dy, x + dx) of the original, or of the
/// mirrored column if `flip`. Applied before enlargement.
struct Augmentation {
  int dy = 0, dx = 0;
  bool flip = false;
};

/// Preprocessing of images: augmentation, enlargement, normalisation.
struct Transform {
  int image_size = 32;                 // enlarged to this height and width (bilinear)
  std::array<float, 3> mean{0, 0, 0};  // per channel, of values in [0, 1]: y = (x - mean) / deviation
  std::array<float, 3> deviation{1, 1, 1};
  int crop_padding = 0;  // random crop out of the image with this border of zeros (pixels)
  bool flip = false;     // random left-right flip
  // Padding. false: black; true: reflection, without repeating the outermost pixels.
  bool reflect = false;
};

/// One image: three planes (red, green, blue) of 32 x 32 bytes, row-major, as CIFAR's files have it. The bytes
/// belong to the data set.
struct Example {
  static constexpr int side = 32, channels = 3, bytes = channels * side * side;
  const std::uint8_t* pixels = nullptr;
  int label = 0;
  std::int64_t id = 0;    // index in the whole data set, before any split
  bool counted = true;    // false: another shard counts it, so this one's evaluation skips it
  Augmentation own = {};  // fixed; combined with the transform's random one. At most 31 pixels
};

/// The bytes of all images of a data set, so that a GPU can keep a copy. They do not change while this object lives.
struct ImageStorage {
  std::vector<std::span<const std::uint8_t>> parts;
};
using ImageStoragePtr = std::shared_ptr<const ImageStorage>;

/// A batch from an iterator. Transform and storage are those of the data set. Without a storage, devices copy the
/// images of each batch.
struct Batch {
  std::vector<Example> examples;
  Transform transform;
  ImageStoragePtr storage;
};

}  // namespace odori
