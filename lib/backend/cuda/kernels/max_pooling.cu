// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/columns.h"
#include "backend/cuda/kernels/max_pooling.h"

namespace odori::cuda::kernels {
namespace {

/// A thread has V channels of one pixel: blockIdx.x counts the rows of all images, the rest the columns and channels.
struct Pixel {
  int n, h, w, c;
  bool inside;
};

template <int V>
__device__ Pixel my_pixel(const Shape& shape) {
  const unsigned int packs = static_cast<unsigned int>(shape.c / V), i = blockIdx.y * blockDim.x + threadIdx.x;
  const unsigned int w = i / packs;
  return {static_cast<int>(blockIdx.x / shape.h), static_cast<int>(blockIdx.x % shape.h), static_cast<int>(w),
          static_cast<int>(i % packs * V), w < static_cast<unsigned int>(shape.w)};
}

__device__ std::size_t position(const Shape& shape, int n, int h, int w, int c) {
  return ((static_cast<std::size_t>(n) * shape.h + h) * shape.w + w) * shape.c + c;
}

template <typename T, int V>
__global__ void forward(const T* x, Shape x_shape, T* y, Shape y_shape, PoolingSpec spec, std::uint8_t* where) {
  wait_for_previous_kernel();
  const Pixel p = my_pixel<V>(y_shape);
  if (!p.inside) return;
  Numbers<V> largest = {};
  Pack<std::uint8_t, V> place = {};
  for (int kh = 0; kh < spec.kernel; ++kh)
    for (int kw = 0; kw < spec.kernel; ++kw) {
      const auto a = read<V>(x + position(x_shape, p.n, p.h * spec.stride + kh, p.w * spec.stride + kw, p.c));
      const int tap = kh * spec.kernel + kw;
      for (int k = 0; k < V; ++k)
        if (tap == 0 || a[k] > largest[k]) {
          largest[k] = a[k];
          place.values[k] = static_cast<std::uint8_t>(tap);
        }
    }
  const std::size_t to = position(y_shape, p.n, p.h, p.w, p.c);
  write(y + to, largest);
  if (where) *reinterpret_cast<Pack<std::uint8_t, V>*>(where + to) = place;
}

/// The windows along one side that hold position i: first .. last.
struct Windows {
  int first, last;
};
__device__ Windows windows_over(int i, int n_windows, const PoolingSpec& spec) {
  const int before = i - spec.kernel + spec.stride;  // (i - kernel) / stride + 1, rounded towards minus infinity
  const int first = before < 0 ? 0 : before / spec.stride, last = i / spec.stride;
  return {first, last < n_windows ? last : n_windows - 1};
}

template <typename T, int V>
__global__ void backward(const T* gy, Shape y_shape, const std::uint8_t* where, T* gx, Shape x_shape,
                         PoolingSpec spec) {
  wait_for_previous_kernel();
  const Pixel p = my_pixel<V>(x_shape);
  if (!p.inside) return;
  const Windows rows = windows_over(p.h, y_shape.h, spec), columns = windows_over(p.w, y_shape.w, spec);
  Numbers<V> sum = {};
  for (int h = rows.first; h <= rows.last; ++h)
    for (int w = columns.first; w <= columns.last; ++w) {
      const std::size_t from = position(y_shape, p.n, h, w, p.c);
      const auto g = read<V>(gy + from);
      const auto place = *reinterpret_cast<const Pack<std::uint8_t, V>*>(where + from);
      const int tap = (p.h - h * spec.stride) * spec.kernel + p.w - w * spec.stride;
      for (int k = 0; k < V; ++k) sum[k] += place.values[k] == tap ? g[k] : 0;
    }
  write(gx + position(x_shape, p.n, p.h, p.w, p.c), sum);
}

/// One thread for every V numbers of `shape`.
struct Threads {
  dim3 grid;
  unsigned int block;
};
Threads threads_for(const Shape& shape, int width) {
  const std::size_t row = static_cast<std::size_t>(shape.w) * static_cast<std::size_t>(shape.c / width);
  const std::size_t block = row < threads_per_block ? divided(row, 32) * 32 : threads_per_block;
  return {dim3(static_cast<unsigned int>(shape.n) * static_cast<unsigned int>(shape.h),
               static_cast<unsigned int>(divided(row, block))),
          static_cast<unsigned int>(block)};
}

/// Calls work(T(), Constant<V>()): 16 bytes at a time if every pixel begins at a multiple of them.
template <typename Work>
void with_type_of(Storage storage, int channels, bool lie_well, const Work& work) {
  with_type(storage, lie_well && static_cast<std::size_t>(channels) * bytes_of(storage) % 16 == 0, work);
}

}  // namespace

void max_pooling(cudaStream_t stream, Storage storage, const void* x, const Shape& x_shape, void* y,
                 const Shape& y_shape, const PoolingSpec& spec, std::uint8_t* where) {
  with_type_of(storage, x_shape.c, aligned(x, y, where), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Threads threads = threads_for(y_shape, V);
    launch("max pooling", forward<T, V>, stream, threads.grid, threads.block, static_cast<const T*>(x), x_shape,
           static_cast<T*>(y), y_shape, spec, where);
  });
}

void max_pooling_backward(cudaStream_t stream, Storage storage, const void* gy, const Shape& y_shape,
                          const std::uint8_t* where, void* gx, const Shape& x_shape, const PoolingSpec& spec) {
  with_type_of(storage, x_shape.c, aligned(gy, where, gx), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const Threads threads = threads_for(x_shape, V);
    launch("max pooling, backward", backward<T, V>, stream, threads.grid, threads.block, static_cast<const T*>(gy),
           y_shape, where, static_cast<T*>(gx), x_shape, spec);
  });
}

}  // namespace odori::cuda::kernels
