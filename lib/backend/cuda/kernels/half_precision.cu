// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/half_precision.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

template <typename Half, int V>
__global__ void pack_kernel(float factor, const float* numbers, Half* packed, std::size_t n) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    auto own = read<width.value>(numbers + i);
    for (int k = 0; k < width.value; ++k) own[k] *= factor;
    write(packed + i, own);
  });
}

template <typename Half, int V>
__global__ void unpack_kernel(const Half* packed, float* numbers, std::size_t n, std::uint32_t* not_finite) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    const auto own = read<width.value>(packed + i);
    write(numbers + i, own);
    std::uint32_t own_not_finite = 0;
    for (int k = 0; k < width.value; ++k) own_not_finite += (__float_as_uint(own[k]) & 0x7fffffffu) >= 0x7f800000u;
    if (own_not_finite > 0) atomicAdd(not_finite, own_not_finite);  // rare: no sum over the block before
  });
}

/// Calls work(Half(), Constant<V>()): V as many as 16 bytes hold, or 1 if not `wide`.
template <typename Work>
void with_half(Dtype dtype, bool wide, const Work& work) {
  if (dtype == Dtype::fp16)
    wide ? work(__half(), Constant<8>()) : work(__half(), Constant<1>());
  else
    wide ? work(__nv_bfloat16(), Constant<8>()) : work(__nv_bfloat16(), Constant<1>());
}

}  // namespace

void pack(cudaStream_t stream, Dtype dtype, float factor, const float* numbers, void* packed, std::size_t n) {
  with_half(dtype, aligned(numbers, packed), [&](auto half, auto width) {
    using Half = decltype(half);
    constexpr int V = decltype(width)::value;
    launch("pack", pack_kernel<Half, V>, stream, blocks_for<V>(n), threads_per_block, factor, numbers,
           static_cast<Half*>(packed), n);
  });
}

void unpack(cudaStream_t stream, Dtype dtype, const void* packed, float* numbers, std::size_t n,
            std::uint32_t* not_finite) {
  with_half(dtype, aligned(packed, numbers), [&](auto half, auto width) {
    using Half = decltype(half);
    constexpr int V = decltype(width)::value;
    launch("unpack", unpack_kernel<Half, V>, stream, blocks_for<V>(n), threads_per_block,
           static_cast<const Half*>(packed), numbers, n, not_finite);
  });
}

}  // namespace odori::cuda::kernels
