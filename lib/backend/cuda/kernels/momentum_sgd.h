// SPDX-License-Identifier: Apache-2.0
// Momentum SGD with weight decay (MomentumFactors) on n elements of flat vectors, in one kernel, which also writes the
// bf16 copy of the parameters.
#pragma once

#include "backend/cuda/kernels/step.h"

namespace odori::cuda::kernels {

/// Device pointers to n elements each. The update moves 20 bytes per element, with and without bf16.
struct UpdateVectors {
  float* p;        // parameters
  float* v;        // velocities
  const float* g;  // fp32 gradients
  // bf16 gradients, or null. Bit i of `in_bf16` is 1 if the gradients of elements 16 i .. 16 i + 15 are here, and not
  // in g.
  const void* g_bf16 = nullptr;
  const std::uint32_t* in_bf16 = nullptr;
  void* copy = nullptr;  // output: the parameters in bf16, or null; requires g_bf16
  // groups[i / 16]: parameter group of element i. Null: all are in group 0.
  const std::uint8_t* groups = nullptr;
};

/// Updates `range` of the parameters, with one kernel per part of `groups`. p, v and g point to element range.begin;
/// all other pointers are null. Vectors that are not aligned to 16 bytes are accessed one element at a time.
void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumGroups& groups, Range range);
/// Updates n >= 0 elements in one kernel. `factors`: per group, in device memory, so that a captured graph reads the
/// current ones.
void momentum_sgd(cudaStream_t stream, const UpdateVectors& vectors, const MomentumFactors* factors, std::size_t n);

/// slow = keep * slow + (1 - keep) * fast; fast = slow; copy = slow in bf16 unless copy is null. n elements each.
void look_ahead(cudaStream_t stream, float* slow, float* fast, void* copy, float keep, std::size_t n);

}  // namespace odori::cuda::kernels
