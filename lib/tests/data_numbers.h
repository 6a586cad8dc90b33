// SPDX-License-Identifier: Apache-2.0
// A data set for tests: example i has id i, label i % 10, and pixels that are derived from i.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace odori {

class Numbers : public Dataset {
 public:
  explicit Numbers(std::size_t n) : pixels_(n * Example::bytes) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = pixel(i / Example::bytes, i % Example::bytes);
    transform_.image_size = 64;
    transform_.mean = {0.1f, 0.2f, 0.3f};
    transform_.flip = true;
  }
  static std::uint8_t pixel(std::size_t example, std::size_t i) {
    return static_cast<std::uint8_t>(example * 7 + i * 3);
  }

  std::size_t size() const override { return pixels_.size() / Example::bytes; }
  Example operator[](std::size_t i) const override {
    return {&pixels_[i * Example::bytes], static_cast<int>(i % 10), static_cast<std::int64_t>(i), true};
  }
  int n_classes() const override { return 10; }
  const Transform& transform() const override { return transform_; }

 private:
  std::vector<std::uint8_t> pixels_;
  Transform transform_;
};

inline DatasetPtr numbers(std::size_t n) { return std::make_shared<Numbers>(n); }

/// The ids of everything in a set or a batch.
inline std::vector<std::int64_t> ids(const Dataset& dataset) {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < dataset.size(); ++i) ids.push_back(dataset[i].id);
  return ids;
}
inline std::vector<std::int64_t> ids(const Batch& batch) {
  std::vector<std::int64_t> ids;
  for (const Example& example : batch.examples) ids.push_back(example.id);
  return ids;
}

}  // namespace odori
