// SPDX-License-Identifier: Apache-2.0
// What changes from one training step to the next, in a struct in device memory: a captured CUDA graph repeats its
// launches with the same arguments, so kernels find in here whatever may differ. The host fills a copy in pinned memory
// and sends it with one asynchronous copy before load, and the update's factors with another when they change.
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
  std::int32_t counted;  // 1, or 0: seen, but left out of the metrics
  Augmentation own;
};

/// Of momentum SGD, for each parameter group.
using UpdateFactors = std::array<MomentumFactors, MomentumGroups::most>;

/// Directly after it in memory are its examples, one for each of the graph's batch size.
struct alignas(16) Step {
  RandomKey key;
  Transform transform;
  std::int32_t examples;  // in this batch; the rest of it is zeros and counts nowhere
  UpdateFactors update = {};

  __host__ __device__ StepExample* example() { return reinterpret_cast<StepExample*>(this + 1); }
  __host__ __device__ const StepExample* example() const { return reinterpret_cast<const StepExample*>(this + 1); }
};

/// Bytes of a Step with room for a batch.
constexpr std::size_t step_bytes(int batch) {
  return sizeof(Step) + static_cast<std::size_t>(batch) * sizeof(StepExample);
}

}  // namespace odori::cuda
