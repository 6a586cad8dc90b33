// SPDX-License-Identifier: Apache-2.0
// Device code: dropout masks (random_rules.h) for kernels that process all elements of a tensor.
//
// random_rules.h orders elements as slots of 16 channels: (image, group of 16 channels, pixel). Eight consecutive
// slots, an octet, share 16 Philox blocks, one per channel, of which each slot uses 16 bits. So a thread handles V
// channels of an octet, and computes V blocks.
#pragma once

#include "backend/cuda/kernels/numbers.h"
#include "backend/cuda/kernels/step.h"
#include "backend/random_rules.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

constexpr int channels_a_slot = 16, slots_a_block = 8;

/// A tensor's slots, and the parameters of its dropout.
struct Slots {
  unsigned int channels, groups, pixels, n;  // n: slots in all
  std::uint32_t threshold, layer;
  const Step* step;

  /// Returns the index of the i-th octet. If the pixels of an image are a multiple of eight, consecutive i are groups
  /// of the same pixels, adjacent in memory.
  __device__ unsigned int octet(unsigned int i) const {
    if (pixels % slots_a_block != 0) return i;
    const unsigned int octets = pixels / slots_a_block, image = i / groups / octets;
    return (image * groups + i % groups) * octets + i / groups % octets;
  }
};

inline Slots slots_of(const Shape& shape, float ratio, std::uint32_t layer, const Step* step) {
  Slots slots;
  slots.channels = static_cast<unsigned int>(shape.c);
  slots.groups = (slots.channels + channels_a_slot - 1) / channels_a_slot;
  slots.pixels = static_cast<unsigned int>(shape.h) * static_cast<unsigned int>(shape.w);
  slots.n = static_cast<unsigned int>(shape.n) * slots.groups * slots.pixels;
  slots.threshold = dropout_threshold(ratio);
  slots.layer = layer;
  slots.step = step;
  return slots;
}

/// The grid for for_my_slots().
template <int V>
dim3 blocks_for(const Slots& slots) {
  const std::size_t octets = (std::size_t{slots.n} + slots_a_block - 1) / slots_a_block;
  return blocks_for<1>(octets * (channels_a_slot / V));
}

/// Calls work(i, channel, kept) for each of this thread's packs of V elements. i: position of the first element in
/// memory; bit k of `kept`: element i + k is kept.
template <int V, typename Work>
__device__ void for_my_slots(const Slots& slots, const Work& work) {
  constexpr unsigned int threads_a_slot = channels_a_slot / V;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread / threads_a_slot >= (slots.n + slots_a_block - 1) / slots_a_block) return;
  const unsigned int octet = slots.octet(static_cast<unsigned int>(thread / threads_a_slot));
  const unsigned int lane = static_cast<unsigned int>(thread % threads_a_slot) * V;
  Philox::Block bits[V];
  for (int k = 0; k < V; ++k) bits[k] = dropout_block(slots.step->key, slots.layer, octet * channels_a_slot + lane + k);

  const unsigned int first = octet * slots_a_block;
  unsigned int pixel = first % slots.pixels, group = first / slots.pixels % slots.groups;
  std::size_t image = first / slots.pixels / slots.groups;
#pragma unroll
  for (int part = 0; part < slots_a_block; ++part) {
    const unsigned int channel = group * channels_a_slot + lane;
    if (channel < slots.channels && first + part < slots.n) {
      unsigned int kept = 0;
      for (int k = 0; k < V; ++k)
        kept |= static_cast<unsigned int>((bits[k][part / 2] >> part % 2 * 16 & 0xffff) >= slots.threshold) << k;
      work((image * slots.pixels + pixel) * slots.channels + channel, static_cast<int>(channel), kept);
    }
    if (++pixel == slots.pixels) {
      pixel = 0;
      if (++group == slots.groups) group = 0, ++image;
    }
  }
}

}  // namespace odori::cuda::kernels
