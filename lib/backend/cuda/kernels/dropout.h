// SPDX-License-Identifier: Apache-2.0
// Inverted dropout of N x H x W x C. random_rules.h decides which elements are kept, as on a CPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// y = x / (1 - ratio) where kept, else 0. Also backward, from gy to gx: recomputing the mask from the step's key costs
/// less than storing it. y may be x. `layer`: the index of this dropout layer in the graph.
void dropout(cudaStream_t stream, Storage storage, const void* x, void* y, const Shape& shape, float ratio,
             std::uint32_t layer, const Step* step);

}  // namespace odori::cuda::kernels
