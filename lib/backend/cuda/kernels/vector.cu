// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/numbers.h"
#include "backend/cuda/kernels/vector.h"
#include "numbers/random.h"

namespace odori::cuda::kernels {
namespace {

template <int V>
__global__ void axpy_kernel(float a, const float* x, float* y, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto from = read<width.value>(x + i);
    auto to = read<width.value>(y + i);
    for (int k = 0; k < width.value; ++k) to[k] = fmaf(a, from[k], to[k]);
    write(y + i, to);
  });
}

template <int V>
__global__ void swap_kernel(float* x, float* y, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto to_y = read<width.value>(x + i);
    write(x + i, read<width.value>(y + i));
    write(y + i, to_y);
  });
}

template <int V>
__global__ void adam_kernel(float* p, const float* g, float* m, float* v, AdamFactors f, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto gradient = read<width.value>(g + i);
    auto mean = read<width.value>(m + i);
    auto square = read<width.value>(v + i);
    auto parameter = read<width.value>(p + i);
    for (int k = 0; k < width.value; ++k) {
      mean[k] = f.beta1 * mean[k] + f.rest1 * gradient[k];
      square[k] = f.beta2 * square[k] + f.rest2 * gradient[k] * gradient[k];
      parameter[k] -= f.rate * mean[k] / (f.scale * sqrtf(square[k]) + f.epsilon);
    }
    write(m + i, mean);
    write(v + i, square);
    write(p + i, parameter);
  });
}

/// Some of the others of add_and_scale: what one launch takes.
struct Others {
  static constexpr int most = 8;
  const float* x[most] = {};
  int n = 0;
};

template <int V>
__global__ void add_and_scale_kernel(float a, Others others, float* y, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    auto sum = read<width.value>(y + i);
#pragma unroll
    for (int other = 0; other < Others::most; ++other) {
      if (other >= others.n) break;
      const auto from = read<width.value>(others.x[other] + i);
      for (int k = 0; k < width.value; ++k) sum[k] += from[k];
    }
    for (int k = 0; k < width.value; ++k) sum[k] *= a;
    write(y + i, sum);
  });
}

template <typename From, typename To, int V>
__global__ void cast_kernel(const From* from, To* to, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) { write(to + i, read<width.value>(from + i)); });
}

template <typename T, int V>
__global__ void noise_kernel(T* x, std::size_t n, std::uint64_t seed) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    Numbers<width.value> a;
    for (int k = 0; k < width.value; ++k) {
      const std::size_t number = i + k;
      const auto low = static_cast<std::uint32_t>(number), high = static_cast<std::uint32_t>(number >> 32);
      a[k] = static_cast<float>(static_cast<std::int32_t>(Philox::block({low, high, 0, 0}, seed)[0])) * 0x1p-31f;
    }
    write(x + i, a);
  });
}

/// Launches a kernel for floats: `wide` if all vectors lie well, else `narrow`.
template <typename Kernel, typename... Arguments>
void launch_floats(const char* name, cudaStream_t stream, bool lie_well, Kernel wide, Kernel narrow, std::size_t n,
                   Arguments... arguments) {
  launch(name, lie_well ? wide : narrow, stream, lie_well ? blocks_for<4>(n) : blocks_for<1>(n), threads_per_block,
         arguments..., n);
}

}  // namespace

void axpy(cudaStream_t stream, float a, const float* x, float* y, std::size_t n) {
  launch_floats("axpy", stream, aligned(x, y), axpy_kernel<4>, axpy_kernel<1>, n, a, x, y);
}

bool kernels_wait() {
  cudaFuncAttributes code{};
  if (cudaFuncGetAttributes(&code, swap_kernel<1>) == cudaSuccess) return code.ptxVersion >= 90;
  cudaGetLastError();  // no code for this GPU: the device's first kernel says so
  return false;
}

void scale(cudaStream_t stream, float a, float* y, std::size_t n) { add_and_scale(stream, a, nullptr, 0, y, n); }

void swap(cudaStream_t stream, float* x, float* y, std::size_t n) {
  launch_floats("swap", stream, aligned(x, y), swap_kernel<4>, swap_kernel<1>, n, x, y);
}

void adam(cudaStream_t stream, float* p, const float* g, float* m, float* v, const AdamFactors& factors,
          std::size_t n) {
  launch_floats("Adam", stream, aligned(p, g, m, v), adam_kernel<4>, adam_kernel<1>, n, p, g, m, v, factors);
}

void add_and_scale(cudaStream_t stream, float a, const float* const* others, int n_others, float* y, std::size_t n) {
  bool lie_well = aligned(y);
  for (int i = 0; i < n_others; ++i) lie_well = lie_well && aligned(others[i]);
  int taken = 0;
  do {
    Others some;
    while (some.n < Others::most && taken < n_others) some.x[some.n++] = others[taken++];
    launch_floats("add and scale", stream, lie_well, add_and_scale_kernel<4>, add_and_scale_kernel<1>, n,
                  taken == n_others ? a : 1.0f, some, y);
  } while (taken < n_others);
}

void cast(cudaStream_t stream, Storage from_type, const void* from, Storage to_type, void* to, std::size_t n) {
  with_type(from_type, true, [&](auto from_zero, auto) {
    with_type(to_type, aligned(from, to), [&](auto to_zero, auto width) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      constexpr int V = decltype(width)::value;
      launch("cast", cast_kernel<From, To, V>, stream, blocks_for<V>(n), threads_per_block,
             static_cast<const From*>(from), static_cast<To*>(to), n);
    });
  });
}

void fill_with_noise(cudaStream_t stream, Storage storage, void* x, std::size_t n, std::uint64_t seed) {
  with_type(storage, aligned(x), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch("noise", noise_kernel<T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<T*>(x), n, seed);
  });
}

}  // namespace odori::cuda::kernels
