// SPDX-License-Identifier: Apache-2.0
// A flat vector of floats in a device's memory: all parameters of a model, all gradients, all velocities.
#pragma once

#include <cstddef>
#include <memory>

namespace odori {

/// Move-only, freed once. `data` is a host pointer on the CPU and a device pointer on a GPU.
class Buffer {
 public:
  using Release = void (*)(float*) noexcept;
  Buffer() = default;
  Buffer(float* data, std::size_t size, Release release) : data_(data, release), size_(size) {}

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(float); }

 private:
  std::unique_ptr<float[], Release> data_{nullptr, [](float*) noexcept {}};
  std::size_t size_ = 0;
};

}  // namespace odori
