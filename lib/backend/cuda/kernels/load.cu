// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/load.h"
#include "backend/cuda/kernels/numbers.h"
#include "backend/random_rules.h"

namespace odori::cuda::kernels {
namespace {

constexpr int side = Example::side, channels = Example::channels;

/// Where a pixel of the result lies between two of the original: first * (1 - part) + second * part.
struct Between {
  int first, second;
  float part;
};
__device__ Between between(int i, int size) {
  const float at = (static_cast<float>(i) + 0.5f) * side / static_cast<float>(size) - 0.5f;
  const float clamped = fminf(fmaxf(at, 0), side - 1);
  const int first = static_cast<int>(clamped);
  return {first, first + 1 < side ? first + 1 : side - 1, clamped - static_cast<float>(first)};
}

/// Bytes of one plane as it is moved and turned, in [0, 1]; where it leaves the original, black or reflected.
struct Plane {
  const std::uint8_t* pixels;
  int dy, dx, flip;
  bool reflect;

  __device__ float operator()(int y, int x) const {
    int from_y = y + dy, from_x = (flip ? side - 1 - x : x) + dx;
    if (reflect) from_y = reflected(from_y, side), from_x = reflected(from_x, side);
    if (from_y < 0 || from_y >= side || from_x < 0 || from_x >= side) return 0;
    return static_cast<float>(pixels[from_y * side + from_x]) / 255.0f;
  }
};

/// blockIdx.x: the image; a thread of its blocks has one pixel.
template <typename T>
__global__ void load_kernel(T* input, int size, const Step* step) {
  wait_for_previous_kernel();
  const int image = static_cast<int>(blockIdx.x), pixels = size * size;
  __shared__ int dy, dx, flip;  // the same for the block, and ten rounds of Philox for each thread to compute
  if (threadIdx.x == 0) {
    const Augmentation own = image < step->examples ? step->example()[image].own : Augmentation{};
    const Augmentation moved = augmentation(step->key, step->transform, blockIdx.x, own);
    dy = moved.dy, dx = moved.dx, flip = moved.flip;
  }
  __syncthreads();
  const int i = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (i >= pixels) return;
  input += (static_cast<std::size_t>(image) * pixels + i) * channels;
  const bool there = image < step->examples;
  const Between row = between(i / size, size), column = between(i % size, size);
  for (int c = 0; c < channels; ++c) {
    float value = 0;
    if (there) {
      const Plane plane{step->example()[image].pixels + c * side * side, dy, dx, flip, step->transform.reflect};
      const float left = 1 - column.part, top = 1 - row.part;
      const float upper = left * plane(row.first, column.first) + column.part * plane(row.first, column.second);
      const float lower = left * plane(row.second, column.first) + column.part * plane(row.second, column.second);
      const auto& transform = step->transform;
      value = (top * upper + row.part * lower - transform.mean[c]) / transform.deviation[c];
    }
    assign(input[c], value);
  }
}

}  // namespace

void load(cudaStream_t stream, Storage storage, void* input, int batch, int size, const Step* step) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    const auto pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    launch("load", load_kernel<T>, stream, dim3(static_cast<unsigned int>(batch), blocks_for<1>(pixels).x),
           threads_per_block, static_cast<T*>(input), size, step);
  });
}

}  // namespace odori::cuda::kernels
