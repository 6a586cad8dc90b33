// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/layout.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

/// Where number i of the plain order stands with its channels last.
__device__ std::size_t channels_last(std::size_t i, const Shape& shape) {
  const std::size_t plane = static_cast<std::size_t>(shape.h) * shape.w, channels = shape.c;
  const std::size_t pixel = i % plane, c = i / plane % channels, n = i / plane / channels;
  return (n * plane + pixel) * channels + c;
}

template <typename T>
__global__ void to_channels_last_kernel(const float* plain, T* to, Shape shape, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<1>(n, [&](auto, std::size_t i) { write(to + channels_last(i, shape), read<1>(plain + i)); });
}

template <typename T>
__global__ void to_plain_kernel(const T* from, float* plain, Shape shape, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<1>(n, [&](auto, std::size_t i) { write(plain + i, read<1>(from + channels_last(i, shape))); });
}

}  // namespace

void to_channels_last(cudaStream_t stream, const float* plain, Storage storage, void* to, const Shape& shape) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("to channels last", to_channels_last_kernel<T>, stream, blocks_for<1>(shape.size()), threads_per_block,
           plain, static_cast<T*>(to), shape, shape.size());
  });
}

void to_plain(cudaStream_t stream, Storage storage, const void* from, float* plain, const Shape& shape) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("to plain order", to_plain_kernel<T>, stream, blocks_for<1>(shape.size()), threads_per_block,
           static_cast<const T*>(from), plain, shape, shape.size());
  });
}

}  // namespace odori::cuda::kernels
