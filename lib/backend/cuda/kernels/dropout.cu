// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/dropout.h"
#include "backend/cuda/kernels/dropout_slots.h"

namespace odori::cuda::kernels {
namespace {

template <typename T, int V>
__global__ void dropout_kernel(const T* x, T* y, Slots slots, float scale) {
  wait_for_previous_kernel();
  for_my_slots<V>(slots, [&](std::size_t i, int, unsigned int kept) {
    auto a = read<V>(x + i);
    for (int k = 0; k < V; ++k) a[k] = kept >> k & 1 ? a[k] * scale : 0;
    write(y + i, a);
  });
}

}  // namespace

void dropout(cudaStream_t stream, Storage storage, const void* x, void* y, const Shape& shape, float ratio,
             std::uint32_t layer, const Step* step) {
  const Slots slots = slots_of(shape, ratio, layer, step);
  const bool packs = static_cast<std::size_t>(shape.c) * bytes_of(storage) % 16 == 0;
  with_type(storage, packs && aligned(x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch("dropout", dropout_kernel<T, V>, stream, blocks_for<V>(slots), threads_per_block, static_cast<const T*>(x),
           static_cast<T*>(y), slots, 1.0f / (1.0f - ratio));
  });
}

}  // namespace odori::cuda::kernels
