// SPDX-License-Identifier: Apache-2.0
// The loss, its gradient, and the sums that a training's report is made of. x: batch x classes; labels, and which
// examples count, are those of the step.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"

namespace odori::cuda::kernels {

/// What a batch's metrics are added to, in device memory: all zero at first.
struct MetricsMemory {
  static constexpr int most_blocks = 32;
  Metrics sum;
  unsigned int ended = 0;           // blocks of the batch under way that have theirs
  Metrics of_block[most_blocks]{};  // of the batch under way
};

/// Adds the counted examples of a step, which are at most `batch`, to memory->sum, in a fixed order: each of several
/// blocks takes its share of them, and the last one to end adds up what the blocks have, in their order.
/// `several`: false for one block.
void softmax_cross_entropy(cudaStream_t stream, Storage storage, const void* x, int batch, int classes,
                           const Step* step, MetricsMemory* memory, bool several);
/// gx = (softmax(x) - [class is the label]) / batch; 0 after the step's examples.
void softmax_cross_entropy_backward(cudaStream_t stream, Storage storage, const void* x, void* gx, int batch,
                                    int classes, const Step* step);

}  // namespace odori::cuda::kernels
