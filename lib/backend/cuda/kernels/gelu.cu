// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/gelu.h"
#include "backend/cuda/kernels/gelu_formula.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

template <typename T, int V>
__global__ void forward(const T* x, T* y, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    auto a = read<width.value>(x + i);
    for (int k = 0; k < width.value; ++k) a[k] = gelu_of(a[k]);
    write(y + i, a);
  });
}

template <typename T, int V>
__global__ void backward(const T* x, const T* gy, T* gx, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto a = read<width.value>(x + i);
    auto g = read<width.value>(gy + i);
    for (int k = 0; k < width.value; ++k) g[k] = gelu_gradient(a[k], g[k]);
    write(gx + i, g);
  });
}

}  // namespace

void gelu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n) {
  with_type(storage, aligned(x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch("gelu", forward<T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<const T*>(x),
           static_cast<T*>(y), n);
  });
}

void gelu_backward(cudaStream_t stream, Storage storage, const void* x, const void* gy, void* gx, std::size_t n) {
  with_type(storage, aligned(x, gy, gx), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch("gelu backward", backward<T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<const T*>(x),
           static_cast<const T*>(gy), static_cast<T*>(gx), n);
  });
}

}  // namespace odori::cuda::kernels
