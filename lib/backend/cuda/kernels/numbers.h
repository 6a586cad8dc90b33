// SPDX-License-Identifier: Apache-2.0
// Device code: reads and writes fp32 or 16-bit elements, which are floats in registers; 16 bytes at a time if aligned,
// otherwise one by one.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/launch.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// V elements of one access. Their memory must be aligned to 16 bytes, or to their size if that is smaller.
template <typename T, int V>
struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) Pack {
  T values[V];
};

template <int V>
struct Numbers {
  float values[V];
  __device__ float& operator[](int i) { return values[i]; }
  __device__ float operator[](int i) const { return values[i]; }
};

inline __device__ float to_float(float x) { return x; }
inline __device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
inline __device__ float to_float(__half x) { return __half2float(x); }
inline __device__ void assign(float& to, float x) { to = x; }
inline __device__ void assign(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }
inline __device__ void assign(__half& to, float x) { to = __float2half_rn(x); }

template <int V, typename T>
__device__ Numbers<V> read(const T* from) {
  const Pack<T, V> pack = *reinterpret_cast<const Pack<T, V>*>(from);
  Numbers<V> numbers;
#pragma unroll
  for (int i = 0; i < V; ++i) numbers[i] = to_float(pack.values[i]);
  return numbers;
}

/// Converts floats to 16 bytes of elements, as in memory.
inline __device__ uint4 sixteen_bytes(const float* x, const float*) {
  return {__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]), __float_as_uint(x[3])};
}
inline __device__ unsigned int two(float low, float high) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(low)) |
         static_cast<unsigned int>(__bfloat16_as_ushort(__float2bfloat16_rn(high))) << 16;
}
inline __device__ uint4 sixteen_bytes(const float* x, const __nv_bfloat16*) {
  return {two(x[0], x[1]), two(x[2], x[3]), two(x[4], x[5]), two(x[6], x[7])};
}
inline __device__ unsigned int two_fp16(float low, float high) {
  const unsigned int first = __half_as_ushort(__float2half_rn(low)), second = __half_as_ushort(__float2half_rn(high));
  return first | second << 16;
}
inline __device__ uint4 sixteen_bytes(const float* x, const __half*) {
  return {two_fp16(x[0], x[1]), two_fp16(x[2], x[3]), two_fp16(x[4], x[5]), two_fp16(x[6], x[7])};
}

template <int V, typename T>
__device__ void write(T* to, const Numbers<V>& numbers) {
  constexpr int at_once = 16 / sizeof(T);
  if constexpr (V % at_once == 0) {
#pragma unroll
    for (int i = 0; i < V; i += at_once)  // nvcc sometimes splits an assignment into single stores
      __stwb(reinterpret_cast<uint4*>(to + i), sixteen_bytes(numbers.values + i, to));
  } else {
    Pack<T, V> pack;
#pragma unroll
    for (int i = 0; i < V; ++i) assign(pack.values[i], numbers[i]);
    *reinterpret_cast<Pack<T, V>*>(to) = pack;
  }
}

/// A compile-time constant as an argument.
template <int N>
struct Constant {
  static constexpr int value = N;
};

/// Calls work(Constant<width>, i) for this thread's elements i .. i + width - 1 of n: V of them, or one of the last n %
/// V.
template <int V, typename Work>
__device__ void for_my_numbers(std::size_t n, const Work& work) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, packs = n / V;
  if (thread < packs)
    work(Constant<V>(), thread * V);
  else if (thread < packs + n % V)
    work(Constant<1>(), packs * V + (thread - packs));
}

// ---- Host code: selects the kernel instance to launch

/// The grid for for_my_numbers().
template <int V>
dim3 blocks_for(std::size_t n) {
  const std::size_t threads = n / V + n % V;
  return dim3(static_cast<unsigned int>((threads + threads_per_block - 1) / threads_per_block));
}

/// True if all pointers are aligned to 16 bytes, or null.
template <typename... Pointers>
bool aligned(const Pointers*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) | ...) & 15) == 0;
}

/// Calls work(T(), Constant<V>()). T: the storage's type; V: elements per 16 bytes, or 1 unless `wide`.
template <typename Work>
void with_type(Storage storage, bool wide, const Work& work) {
  if (storage == Storage::fp32)
    wide ? work(float(), Constant<4>()) : work(float(), Constant<1>());
  else
    wide ? work(__nv_bfloat16(), Constant<8>()) : work(__nv_bfloat16(), Constant<1>());
}

}  // namespace odori::cuda::kernels
