// SPDX-License-Identifier: Apache-2.0
// One update by momentum SGD with weight decay, of n elements of flat vectors, in one kernel: see MomentumFactors. Then
// copy = p in bf16.
#pragma once

#include "backend/cuda/kernels/step.h"

namespace odori::cuda::kernels {

/// Device pointers to n elements each. It moves 20 bytes per element, with and without bf16.
struct UpdateVectors {
  float* p;        // parameters
  float* v;        // velocities
  const float* g;  // gradients of fp32
  // Null, or gradients of bf16. Bit i of `in_bf16` is 1 where the gradients of elements 16 i .. 16 i + 15 are here, and
  // not in g.
  const void* g_bf16 = nullptr;
  const std::uint32_t* in_bf16 = nullptr;
  void* copy = nullptr;  // null, or the parameters in bf16, which are written; only together with g_bf16
  // Null: all elements are in group 0. Else element i / 16 is the group of elements i.
  const std::uint8_t* groups = nullptr;
};

/// Updates `range` of the parameters by one kernel for each part that has factors of its own. p, v and g point to the
/// elements of range.begin; all other pointers are null. The vectors need no alignment, but without one of 16 bytes
/// each element is read by itself.
void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumGroups& groups, Range range);
/// Updates n elements, which may be 0, in one kernel. The factors of each group are in device memory, so that a
/// captured graph finds those of its update.
void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumFactors* factors, std::size_t n);

/// slow = keep * slow + (1 - keep) * fast; fast = slow; copy = slow in bf16 unless copy is null. n elements each.
void look_ahead(cudaStream_t stream, float* slow, float* fast, void* copy, float keep, std::size_t n);

}  // namespace odori::cuda::kernels
