// SPDX-License-Identifier: Apache-2.0
// The loss, its gradient, and the sums that a training's report is made of. x: batch x classes; labels, and which
// examples count, are those of the step.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// Adds the counted examples to `metrics`, in device memory, in a fixed order.
void softmax_cross_entropy(cudaStream_t stream, Storage storage, const void* x, int classes, const Step* step,
                           Metrics* metrics);
/// gx = (softmax(x) - [class is the label]) / batch; 0 after the step's examples.
void softmax_cross_entropy_backward(cudaStream_t stream, Storage storage, const void* x, void* gx, int batch,
                                    int classes, const Step* step);

}  // namespace odori::cuda::kernels
