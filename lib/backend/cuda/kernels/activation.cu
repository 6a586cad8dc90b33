// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/activation.h"
#include "backend/cuda/kernels/gelu_formula.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

struct Relu {
  static __device__ float value(float x) { return x < 0 ? 0 : x; }
  static __device__ float gradient(float y, float g) { return y > 0 ? g : 0; }
};

struct Gelu {
  static __device__ float value(float x) { return gelu_of(x); }
  static __device__ float gradient(float x, float g) { return gelu_gradient(x, g); }
};

template <typename Function, typename T, int V>
__global__ void forward(const T* x, T* y, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    auto a = read<width.value>(x + i);
    for (int k = 0; k < width.value; ++k) a[k] = Function::value(a[k]);
    write(y + i, a);
  });
}

/// `of`: x or y, whichever the gradient is a function of.
template <typename Function, typename T, int V>
__global__ void backward(const T* of, const T* gy, T* gx, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto a = read<width.value>(of + i);
    auto g = read<width.value>(gy + i);
    for (int k = 0; k < width.value; ++k) g[k] = Function::gradient(a[k], g[k]);
    write(gx + i, g);
  });
}

template <typename Function>
void launch_forward(const char* name, cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n) {
  with_type(storage, aligned(x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch(name, forward<Function, T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<const T*>(x),
           static_cast<T*>(y), n);
  });
}

template <typename Function>
void launch_backward(const char* name, cudaStream_t stream, Storage storage, const void* of, const void* gy, void* gx,
                     std::size_t n) {
  with_type(storage, aligned(of, gy, gx), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch(name, backward<Function, T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<const T*>(of),
           static_cast<const T*>(gy), static_cast<T*>(gx), n);
  });
}

}  // namespace

void relu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n) {
  launch_forward<Relu>("relu", stream, storage, x, y, n);
}

void relu_backward(cudaStream_t stream, Storage storage, const void* y, const void* gy, void* gx, std::size_t n) {
  launch_backward<Relu>("relu backward", stream, storage, y, gy, gx, n);
}

void gelu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n) {
  launch_forward<Gelu>("gelu", stream, storage, x, y, n);
}

void gelu_backward(cudaStream_t stream, Storage storage, const void* x, const void* gy, void* gx, std::size_t n) {
  launch_backward<Gelu>("gelu backward", stream, storage, x, gy, gx, n);
}

}  // namespace odori::cuda::kernels
