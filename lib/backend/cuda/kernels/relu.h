// SPDX-License-Identifier: Apache-2.0
// Rectified linear unit of n elements: y = max(x, 0). y may be x.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

void relu(cudaStream_t stream, Storage storage, const void* x, void* y, std::size_t n);
/// gx = gy where y > 0, else 0. gx may be gy.
void relu_backward(cudaStream_t stream, Storage storage, const void* y, const void* gy, void* gx, std::size_t n);

}  // namespace odori::cuda::kernels
