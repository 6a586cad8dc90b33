// SPDX-License-Identifier: Apache-2.0
// Between plain order, as people and files have it, and channels last, as the GPU likes it: for reading and writing
// values and parameters. Never in the middle of training.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/storage.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// From floats, N x C x H x W, to N x H x W x C of `storage`. A convolution's weight is meant as N = out, C = in; that
/// of a linear layer as N = out and the C, H, W of the layer's input.
void to_channels_last(cudaStream_t stream, const float* plain, Storage storage, void* to, const Shape& shape);
/// And back.
void to_plain(cudaStream_t stream, Storage storage, const void* from, float* plain, const Shape& shape);

}  // namespace odori::cuda::kernels
