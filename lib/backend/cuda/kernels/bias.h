// SPDX-License-Identifier: Apache-2.0
// Bias of a linear layer, or of channels-last tensors: one float per column of a rows x columns matrix.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// y[r, c] += bias[c]
void add_bias(cudaStream_t stream, Storage storage, void* y, const float* bias, int rows, int columns);
/// gbias[c] = sum over r of gy[r, c], in a fixed order. With a workspace, several blocks share the rows; without, one
/// block sums all, for few rows.
void bias_gradient(cudaStream_t stream, Storage storage, const void* gy, float* gbias, int rows, int columns,
                   void* workspace = nullptr);
/// Bytes of the workspace, aligned to 16: zero before the first call, and not changed between calls.
std::size_t bias_workspace_bytes(int rows, int columns);

}  // namespace odori::cuda::kernels
