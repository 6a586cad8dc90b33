// SPDX-License-Identifier: Apache-2.0
// ReLU and the Gaussian error linear unit (GELU) of n elements.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// y = max(x, 0). y may be x.
void relu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n);
/// gx = gy where y > 0, else 0. gx may be gy.
void relu_backward(cudaStream_t stream, Storage storage, const void* y, const void* gy, void* gx, std::size_t n);

/// y = x * P(Z <= x) for a standard normal Z. y may be x.
void gelu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n);
/// gx = gy * (P(Z <= x) + x * density(x)). gx may be gy.
void gelu_backward(cudaStream_t stream, Storage storage, const void* x, const void* gy, void* gx, std::size_t n);

}  // namespace odori::cuda::kernels
