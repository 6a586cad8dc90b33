// SPDX-License-Identifier: Apache-2.0
// Max pooling of N x H x W x C. Of several equal values in a window the first counts, row by row.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/storage.h"
#include "backend/graph.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// The largest kernel side: a place in the window fits a byte.
constexpr int max_pooling_largest_kernel = 16;

/// `x` and `y`: shapes as (N, C, H, W). where: one byte a number of y, the place in its window, for backward; null
/// where no backward follows.
void max_pooling(cudaStream_t stream, Storage storage, const void* x, const Shape& x_shape, void* y,
                 const Shape& y_shape, const PoolingSpec& spec, std::uint8_t* where);
/// Writes all of gx, zeros included. Each number of gx gathers from the windows that it lies in: nothing is added
/// atomically, so the order of additions is fixed.
void max_pooling_backward(cudaStream_t stream, Storage storage, const void* gy, const Shape& y_shape,
                          const std::uint8_t* where, void* gx, const Shape& x_shape, const PoolingSpec& spec);

}  // namespace odori::cuda::kernels
