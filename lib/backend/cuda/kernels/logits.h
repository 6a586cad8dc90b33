// SPDX-License-Identifier: Apache-2.0
// Scaled logits and label smoothing. x and g: batch x classes. Labels are those of the step.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// x *= scale
void logits(cudaStream_t stream, Storage storage, void* x, const LogitsSpec& spec, int batch, int classes);
/// g = scale * (g + smoothing * ([class is the label] - 1 / classes) / batch); no smoothing for rows after the step's
/// examples.
void logits_backward(cudaStream_t stream, Storage storage, void* g, const LogitsSpec& spec, int batch, int classes,
                     const Step* step);

}  // namespace odori::cuda::kernels
