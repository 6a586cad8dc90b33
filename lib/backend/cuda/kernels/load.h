// SPDX-License-Identifier: Apache-2.0
// Preprocessing from the bytes of a data set to the network's input: crop and flip, bilinear enlargement,
// normalisation, as in backend/reference/load.h.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// Writes all of `input`, batch x size x size x 3, with zeros after the step's examples. `size` must equal the
/// image_size of the step's transform.
void load(cudaStream_t stream, Storage storage, void* input, int batch, int size, const Step* step);

}  // namespace odori::cuda::kernels
