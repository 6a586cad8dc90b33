// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy loss, its gradient, and metrics. x: batch x classes. Labels and `counted` are those of the
// step.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// Sums of metrics in device memory; must be zero before the first batch.
struct MetricsMemory {
  static constexpr int most_blocks = 32;
  Metrics sum;
  unsigned int ended = 0;           // blocks of the current batch that have ended
  Metrics of_block[most_blocks]{};  // of the current batch
};

/// Adds the metrics of the step's counted examples to memory->sum, in a fixed order: each block sums its examples, and
/// the last block to end adds the blocks' sums in order. `several`: use several blocks.
void softmax_cross_entropy(cudaStream_t stream, Storage storage, const void* x, int batch, int classes,
                           const Step* step, MetricsMemory* memory, bool several);
/// gx = (softmax(x) - [class is the label]) / batch; 0 after the step's examples.
void softmax_cross_entropy_backward(cudaStream_t stream, Storage storage, const void* x, void* gx, int batch,
                                    int classes, const Step* step);

}  // namespace odori::cuda::kernels
