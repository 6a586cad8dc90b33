// SPDX-License-Identifier: Apache-2.0
// From the bytes of a data set to the network's input: crop and flip, bilinear enlargement, normalisation, by the rules
// of backend/reference/load.h.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// Writes all of `input`: batch x size x size x 3, zeros after the step's examples. The step's transform has to have
/// this image_size.
void load(cudaStream_t stream, Storage storage, void* input, int batch, int size, const Step* step);

}  // namespace odori::cuda::kernels
