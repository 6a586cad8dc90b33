// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/dropout.h"
#include "backend/cuda/kernels/numbers.h"
#include "backend/random_rules.h"

namespace odori::cuda::kernels {
namespace {

// random_rules.h counts elements as slots of 16 channels: (image, group of 16 channels, pixel), in that order. Eight
// slots in a row share 16 Philox blocks, one for each of the 16 channels, of which each slot takes 16 bits. So a thread
// has V channels of eight slots, and draws V blocks.
constexpr int channels_a_slot = 16, slots_a_block = 8;

/// The tensor as slots.
struct Slots {
  unsigned int channels, groups, pixels, n;  // n: slots in all

  /// Eight slots of one image's group and neighbouring pixels, where pixels come in eights: threads side by side then
  /// take groups side by side, which stand side by side in memory. Else simply the octet number i.
  __device__ unsigned int octet(unsigned int i) const {
    if (pixels % slots_a_block != 0) return i;
    const unsigned int octets = pixels / slots_a_block, image = i / groups / octets;
    return (image * groups + i % groups) * octets + i / groups % octets;
  }
};

template <typename T, int V>
__global__ void dropout_kernel(const T* x, T* y, Slots slots, std::uint32_t threshold, float scale, std::uint32_t layer,
                               const Step* step) {
  constexpr unsigned int threads_a_slot = channels_a_slot / V;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread / threads_a_slot >= (slots.n + slots_a_block - 1) / slots_a_block) return;
  const unsigned int octet = slots.octet(static_cast<unsigned int>(thread / threads_a_slot));
  const unsigned int lane = static_cast<unsigned int>(thread % threads_a_slot) * V;
  Philox::Block bits[V];
  for (int k = 0; k < V; ++k) bits[k] = dropout_block(step->key, layer, octet * channels_a_slot + lane + k);

  const unsigned int first = octet * slots_a_block;
  unsigned int pixel = first % slots.pixels, group = first / slots.pixels % slots.groups;
  std::size_t image = first / slots.pixels / slots.groups;
#pragma unroll
  for (int part = 0; part < slots_a_block; ++part) {
    const unsigned int channel = group * channels_a_slot + lane;
    if (channel < slots.channels && first + part < slots.n) {
      const std::size_t i = (image * slots.pixels + pixel) * slots.channels + channel;
      auto a = read<V>(x + i);
      for (int k = 0; k < V; ++k) a[k] = (bits[k][part / 2] >> part % 2 * 16 & 0xffff) >= threshold ? a[k] * scale : 0;
      write(y + i, a);
    }
    if (++pixel == slots.pixels) {
      pixel = 0;
      if (++group == slots.groups) group = 0, ++image;
    }
  }
}

}  // namespace

void dropout(cudaStream_t stream, Storage storage, const void* x, void* y, const Shape& shape, float ratio,
             std::uint32_t layer, const Step* step) {
  Slots slots;
  slots.channels = static_cast<unsigned int>(shape.c);
  slots.groups = (slots.channels + channels_a_slot - 1) / channels_a_slot;
  slots.pixels = static_cast<unsigned int>(shape.h) * static_cast<unsigned int>(shape.w);
  slots.n = static_cast<unsigned int>(shape.n) * slots.groups * slots.pixels;
  const std::size_t octets = (std::size_t{slots.n} + slots_a_block - 1) / slots_a_block;
  const bool packs = static_cast<std::size_t>(shape.c) * bytes_of(storage) % 16 == 0;
  with_type(storage, packs && aligned(x, y), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    launch("dropout", dropout_kernel<T, V>, stream, blocks_for<1>(octets * (channels_a_slot / V)), threads_per_block,
           static_cast<const T*>(x), static_cast<T*>(y), slots, dropout_threshold(ratio), 1.0f / (1.0f - ratio), layer,
           step);
  });
}

}  // namespace odori::cuda::kernels
