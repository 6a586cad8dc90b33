// SPDX-License-Identifier: Apache-2.0
// Everything that changes between training steps, as a struct in device memory: a captured CUDA graph repeats launches
// with the same arguments, so kernels read changing values from here. The host fills it in pinned memory and sends it
// with one asynchronous copy before load; the factors of the update, when they change, with another.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/graph.h"
#include "backend/momentum_factors.h"

namespace odori::cuda {

/// One example of the batch.
struct StepExample {
  const std::uint8_t* pixels;  // device memory: 3 x 32 x 32 bytes, as in Example
  std::int32_t label;
  std::int32_t counted;  // 1; 0: not in the metrics
  Augmentation own;
};

/// Factors of momentum SGD, per parameter group.
using UpdateFactors = std::array<MomentumFactors, MomentumGroups::most>;

/// Its examples follow directly in memory, one per image of the graph's batch size.
struct alignas(16) Step {
  RandomKey key;
  Transform transform;
  std::int32_t examples;  // in this batch; the rest is zero and not counted
  UpdateFactors update = {};

  __host__ __device__ StepExample* example() { return reinterpret_cast<StepExample*>(this + 1); }
  __host__ __device__ const StepExample* example() const { return reinterpret_cast<const StepExample*>(this + 1); }
};

/// Bytes of a Step with the examples of a batch.
constexpr std::size_t step_bytes(int batch) {
  return sizeof(Step) + static_cast<std::size_t>(batch) * sizeof(StepExample);
}

}  // namespace odori::cuda
