// SPDX-License-Identifier: Apache-2.0
// Conversion between plain order, N x C x H x W, and channels-last, for reading and writing tensors and parameters. Not
// used during training.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/storage.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// Converts floats in N x C x H x W to N x H x W x C of `storage`. Convolution weights: N = outputs, C = inputs. Linear
/// weights: N = outputs, and C, H, W of the layer's input.
void to_channels_last(cudaStream_t stream, const float* plain, Storage storage, void* to, const Shape& shape);
/// The inverse.
void to_plain(cudaStream_t stream, Storage storage, const void* from, float* plain, const Shape& shape);

}  // namespace odori::cuda::kernels
