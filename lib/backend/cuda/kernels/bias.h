// SPDX-License-Identifier: Apache-2.0
// The bias of a linear layer: one float a column of a rows x columns matrix.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// y[r, c] += bias[c]
void add_bias(cudaStream_t stream, Storage storage, void* y, const float* bias, int rows, int columns);
/// gbias[c] = sum over r of gy[r, c], in a fixed order.
void bias_gradient(cudaStream_t stream, Storage storage, const void* gy, float* gbias, int rows, int columns);

}  // namespace odori::cuda::kernels
