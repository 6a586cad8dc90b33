// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of N x H x W x C, optionally fused with a ReLU and dropout, or with a GELU.
// backend/reference/batch_normalization.h has the formulas. The order of sums is fixed, so results are deterministic.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"
#include "backend/graph.h"
#include "numbers/shape.h"

namespace odori::cuda::kernels {

/// Dropout of y, in place, and of gy before backward, with the same bits as dropout.h.
struct FusedDropout {
  Shape shape;
  float ratio;
  std::uint32_t layer;  // index of this dropout layer in the graph
  const Step* step;
  // The mask: one byte per pack of 16 bytes of y, or per element if channels do not fill packs. Bit k: element k of the
  // pack is kept. Written in training, read by backward. Null: no dropout.
  std::uint8_t* kept = nullptr;
};

/// Arguments of all three passes. x and y: rows x channels of `storage`. All other arrays, including statistics and
/// gradients: one float per channel, aligned to 16 bytes.
struct BatchNormalization {
  Storage storage;
  std::size_t rows;  // N * H * W
  int channels;
  BatchNormalizationSpec spec;
  const void* x;
  const float *gamma, *beta;
  // Of this batch, kept from forward to backward: mean, and 1 / sqrt(variance + epsilon).
  float *mean, *inverse_deviation;
  // batch_normalization_counters() counters, all 0 before and after a pass: the last block combines the partial results
  // of all blocks. Null: a second kernel does.
  unsigned int* counters = nullptr;
  bool gelu = false;       // fuse a GELU, with the same bits as activation.h; without ReLU and dropout
  FusedDropout dropout{};  // requires x, y, gy and gx aligned to 16 bytes
};

/// Bytes of FusedDropout::kept.
std::size_t kept_bytes(Storage storage, std::size_t rows, int channels);

std::size_t batch_normalization_counters(std::size_t rows, int channels);
/// Bytes of scratch memory, aligned to 16, used only during one pass.
std::size_t batch_normalization_scratch_bytes(std::size_t rows, int channels);

/// Writes y, mean, inverse_deviation, and the running statistics.
void batch_normalization_train(cudaStream_t stream, const BatchNormalization& b, void* y, float* running_mean,
                               float* running_variance, void* scratch);
/// Writes y from the running statistics.
void batch_normalization_evaluate(cudaStream_t stream, const BatchNormalization& b, void* y, const float* running_mean,
                                  const float* running_variance);
/// Writes ggamma, gbeta and gx from gy. gx may be gy, or null if not needed. With a GELU, gy is overwritten. Recomputes
/// the ReLU's mask from x instead of reading y.
void batch_normalization_backward(cudaStream_t stream, const BatchNormalization& b, void* gy, void* gx, float* ggamma,
                                  float* gbeta, void* scratch);

}  // namespace odori::cuda::kernels
