// SPDX-License-Identifier: Apache-2.0
// What the tests of the CUDA kernels share: arrays in a GPU's memory, and the reference's arrays there and back. The
// GPU is a real one or the emulated one; these tests see CUDA's own interface alone.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "backend/cuda/cuda_check.h"
#include "backend/cuda/kernels/storage.h"
#include "backend_support.h"

namespace odori::test {

using cuda::Storage;

/// As it comes back from storage.
inline float rounded(Storage storage, float x) {
  if (storage == Storage::fp32) return x;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

/// n elements in the GPU's memory, NaNs at first. `shift`: that many elements after an address that is a multiple of 16
/// bytes.
class Memory {
 public:
  Memory(cudaStream_t stream, Storage storage, std::size_t n, std::size_t shift = 0)
      : stream_(stream), storage_(storage), n_(n), shift_(shift * bytes_of(storage)) {
    void* memory = nullptr;
    cuda::check(cudaMalloc(&memory, bytes() + shift_), "allocating");
    memory_.reset(static_cast<std::byte*>(memory));
    cuda::check(cudaMemsetAsync(memory, 0xff, bytes() + shift_, stream), "poisoning");
  }
  Memory(cudaStream_t stream, Storage storage, const std::vector<float>& values, std::size_t shift = 0)
      : Memory(stream, storage, values.size(), shift) {
    write(values);
  }

  template <typename T = float>
  T* data() const {
    return reinterpret_cast<T*>(memory_.get() + shift_);
  }
  void write(const std::vector<float>& values) {
    std::vector<std::byte> raw(bytes());
    for (std::size_t i = 0; i < n_; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(rounded(storage_, values[i]));
      const std::uint32_t stored = storage_ == Storage::fp32 ? bits : bits >> 16;
      std::memcpy(&raw[i * bytes_of(storage_)], &stored, bytes_of(storage_));
    }
    cuda::check(cudaMemcpyAsync(data(), raw.data(), raw.size(), cudaMemcpyHostToDevice, stream_), "writing");
    cuda::check(cudaStreamSynchronize(stream_), "writing");
  }
  std::vector<float> read() const {
    std::vector<std::byte> raw(bytes());
    cuda::check(cudaMemcpyAsync(raw.data(), data(), raw.size(), cudaMemcpyDeviceToHost, stream_), "reading");
    cuda::check(cudaStreamSynchronize(stream_), "reading");
    std::vector<float> values;
    for (std::size_t i = 0; i < n_; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &raw[i * bytes_of(storage_)], bytes_of(storage_));
      values.push_back(std::bit_cast<float>(storage_ == Storage::fp32 ? bits : bits << 16));
    }
    return values;
  }

 private:
  std::size_t bytes() const { return n_ * bytes_of(storage_); }

  cudaStream_t stream_;
  Storage storage_;
  std::size_t n_, shift_;
  cuda::DeviceMemory memory_;
};

/// Every test runs in fp32 and in bf16.
class KernelTest : public testing::TestWithParam<Storage> {
 protected:
  const Storage storage = GetParam();
  cuda::Stream owner = cuda::new_stream();
  cudaStream_t stream = owner.get();
  RandomSequence random{test_seed(), RandomUse::synthetic_data};
  /// Norm-wise error of a result in this storage whose terms are exact.
  const double tolerance = storage == Storage::fp32 ? 1e-6 : 4e-3;

  /// Random numbers that storage keeps as they are.
  reference::Array<double> normal_array(const Shape& shape) {
    reference::Array<double> array(shape);
    const std::vector<float> values = normal(shape.size(), random);
    for (std::size_t i = 0; i < values.size(); ++i) array.values[i] = rounded(storage, values[i]);
    return array;
  }
  /// As N x H x W x C.
  Memory on_gpu(const reference::Array<double>& array, std::size_t shift = 0) {
    return {stream, storage, channels_last(array), shift};
  }
  Memory poisoned(const Shape& shape, std::size_t shift = 0) { return {stream, storage, shape.size(), shift}; }
  Memory floats(std::size_t n) { return {stream, Storage::fp32, n}; }
  Memory floats(const std::vector<double>& values) {
    return {stream, Storage::fp32, std::vector<float>(values.begin(), values.end())};
  }

  static std::vector<float> channels_last(const reference::Array<double>& array) {
    std::vector<float> values;
    const Shape& s = array.shape;
    for (int n = 0; n < s.n; ++n)
      for (int h = 0; h < s.h; ++h)
        for (int w = 0; w < s.w; ++w)
          for (int c = 0; c < s.c; ++c) values.push_back(static_cast<float>(array(n, c, h, w)));
    return values;
  }
  static double error(const std::vector<float>& seen, const reference::Array<double>& expected) {
    return relative_error(seen, channels_last(expected));
  }
  static double error(const Memory& seen, const std::vector<double>& expected) {
    return relative_error(seen.read(), {expected.begin(), expected.end()});
  }
  /// The same of sums whose terms may cancel, and leave little but rounding: by the terms' Euclidean norm, where that
  /// is the larger one.
  static double error_of_sums(const Memory& seen, const std::vector<double>& expected, double norm_of_terms) {
    const double norm = std::sqrt(std::inner_product(expected.begin(), expected.end(), expected.begin(), 0.0));
    return error(seen, expected) * (norm == 0 ? 1.0 : std::min(1.0, norm / norm_of_terms));
  }
};

inline std::string name_of_storage(const testing::TestParamInfo<Storage>& info) {
  return info.param == Storage::fp32 ? "fp32" : "bf16";
}

}  // namespace odori::test
