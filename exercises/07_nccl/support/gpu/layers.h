// SPDX-License-Identifier: Apache-2.0
// Kernels of a multi-layer perceptron. Each function queues one kernel. All matrices are row-major.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace odori::gpus {

/// y [images, out] = x [images, in] W + b, then max(y, 0) if relu. Parameters and gradients: W [in, out], then b [out].
struct Layer {
  int images = 0, in = 0, out = 0;
  bool relu = true;
  int parameters() const { return (in + 1) * out; }
};

cudaError_t layer_forward(Layer layer, const float* x, const float* parameters, float* y, cudaStream_t stream);
/// Softmax and cross-entropy, mean over the images. Writes the loss and its gradient with respect to the logits
/// [images, classes]. At most 1024 images.
cudaError_t loss_forward(int images, int classes, const float* logits, const int* labels, float* loss, float* dlogits,
                         cudaStream_t stream);
/// From dy, the gradient with respect to y: writes the layer's gradients, and dx unless it is null.
cudaError_t layer_backward(Layer layer, const float* x, const float* parameters, const float* y, const float* dy,
                           float* gradients, float* dx, cudaStream_t stream);
cudaError_t scale(float* values, int n, float factor, cudaStream_t stream);
/// parameters -= rate * gradients.
cudaError_t sgd(float* parameters, const float* gradients, int n, float rate, cudaStream_t stream);

}  // namespace odori::gpus
