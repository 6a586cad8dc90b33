// SPDX-License-Identifier: Apache-2.0
// Max pooling of N x H x W x C. Of several maxima in a window the first counts, row by row.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backend/cuda/kernels/storage.h"
#include "backend/graph.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// The largest kernel size: a position in the window must fit into a byte.
constexpr int max_pooling_largest_kernel = 16;

/// Shapes are N, C, H, W. `where`: one byte per element of y, the maximum's position in its window, for backward; null
/// if no backward follows.
void max_pooling(cudaStream_t stream, Storage storage, const void* x, const Shape& x_shape, void* y,
                 const Shape& y_shape, const PoolingSpec& spec, std::uint8_t* where);
/// Writes all of gx, including zeros. Each element of gx gathers from the windows that contain it, without atomics, so
/// the order of additions is fixed.
void max_pooling_backward(cudaStream_t stream, Storage storage, const void* gy, const Shape& y_shape,
                          const std::uint8_t* where, void* gx, const Shape& x_shape, const PoolingSpec& spec);

}  // namespace odori::cuda::kernels
