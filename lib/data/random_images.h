// SPDX-License-Identifier: Apache-2.0
// Random images for benchmarks.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"
#include "numbers/random.h"

namespace odori {

/// Random images with random labels of ten classes.
class RandomImages : public Dataset {
 public:
  explicit RandomImages(std::size_t n, int image_size = 32) : n_(n), bytes_(n * Example::bytes) {
    transform_.image_size = image_size;
    RandomSequence random(0, RandomUse::synthetic_data);
    for (std::uint8_t& byte : bytes_) byte = static_cast<std::uint8_t>(random.next() >> 24);
  }
  std::size_t size() const override { return n_; }
  Example operator[](std::size_t i) const override {
    return {&bytes_[i * Example::bytes], bytes_[i * Example::bytes] % 10, static_cast<std::int64_t>(i)};
  }
  int n_classes() const override { return 10; }
  const Transform& transform() const override { return transform_; }
  ImageStoragePtr storage() const override { return storage_; }
  /// A batch of the first n images.
  Batch batch(int n) const {
    Batch batch{{}, transform_, storage_};
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) batch.examples.push_back((*this)[i]);
    return batch;
  }

 private:
  std::size_t n_;
  std::vector<std::uint8_t> bytes_;
  ImageStoragePtr storage_ = std::make_shared<ImageStorage>(ImageStorage{{bytes_}});
  Transform transform_{.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.25f, 0.25f, 0.25f}};
};

}  // namespace odori
