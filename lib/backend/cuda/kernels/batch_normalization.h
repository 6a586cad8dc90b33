// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of N x H x W x C, followed by a ReLU and by dropout, or by a GELU, if wanted:
// backend/reference/batch_normalization.h has the formulas. Sums are taken in a fixed order: the same input gives the
// same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"
#include "backend/graph.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// Dropout of y: the same bits as dropout.h's, on y in place and on gy before backward.
struct FusedDropout {
  Shape shape;
  float ratio;
  std::uint32_t layer;  // index of this dropout layer in the graph
  const Step* step;
  // One byte for each pack of 16 bytes of y, or for each element where channels don't fill packs: bit k says whether
  // element k of the pack is kept. Written in training, read by backward. Null: no dropout.
  std::uint8_t* kept = nullptr;
};

/// What all three need; x and y are rows x channels of `storage`. Everything else here, statistics and gradients
/// included, is one float a channel, aligned to 16 bytes.
struct BatchNormalization {
  Storage storage;
  std::size_t rows;  // N * H * W
  int channels;
  BatchNormalizationSpec spec;
  const void* x;
  const float *gamma, *beta;
  // From forward to backward: of this batch, the mean and 1 / sqrt(variance + epsilon).
  float *mean, *inverse_deviation;
  // batch_normalization_counters() counters, all 0 before and after a pass: the last block then combines the partial
  // results of all. Null: a second kernel does.
  unsigned int* counters = nullptr;
  bool gelu = false;       // y is the GELU of what is normalised, with the bits of activation.h; without ReLU and dropout
  FusedDropout dropout{};  // with it, x, y, gy and gx are all aligned to 16 bytes
};

/// Bytes of FusedDropout::kept.
std::size_t kept_bytes(Storage storage, std::size_t rows, int channels);

std::size_t batch_normalization_counters(std::size_t rows, int channels);
/// Bytes of scratch memory for one pass, aligned to 16: it lives during the pass alone.
std::size_t batch_normalization_scratch_bytes(std::size_t rows, int channels);

/// Writes y, mean, inverse_deviation, and the running statistics.
void batch_normalization_train(cudaStream_t stream, const BatchNormalization& b, void* y, float* running_mean,
                               float* running_variance, void* scratch);
/// Writes y alone, from the running statistics.
void batch_normalization_evaluate(cudaStream_t stream, const BatchNormalization& b, void* y, const float* running_mean,
                                  const float* running_variance);
/// Writes ggamma, gbeta and gx from gy. gx may be gy, or null where nobody needs it. With a GELU, gy is overwritten. y
/// isn't needed: whether the ReLU was open is computed again from x, as x has to be read anyway.
void batch_normalization_backward(cudaStream_t stream, const BatchNormalization& b, void* gy, void* gx, float* ggamma,
                                  float* gbeta, void* scratch);

}  // namespace odori::cuda::kernels
