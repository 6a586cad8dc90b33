// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "layers.h"

namespace odori::gpus {
namespace {

constexpr int threads_per_block = 128;

__device__ int my_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

/// A thread for each element of y.
__global__ void forward_kernel(Layer layer, const float* x, const float* parameters, float* y) {
  const int i = my_index();
  if (i >= layer.images * layer.out) return;
  const int image = i / layer.out, o = i % layer.out;
  float sum = parameters[layer.in * layer.out + o];
  for (int k = 0; k < layer.in; ++k) sum += x[image * layer.in + k] * parameters[k * layer.out + o];
  y[i] = layer.relu && sum < 0 ? 0 : sum;
}

/// One block, a thread for each image. The first one adds up their losses, in order.
__global__ void loss_kernel(int classes, const float* logits, const int* labels, float* loss, float* dlogits) {
  __shared__ float losses[1024];
  const int image = static_cast<int>(threadIdx.x), images = static_cast<int>(blockDim.x);
  const float* row = logits + image * classes;
  float largest = row[0], sum = 0;
  for (int c = 1; c < classes; ++c) largest = row[c] > largest ? row[c] : largest;
  for (int c = 0; c < classes; ++c) sum += expf(row[c] - largest);
  for (int c = 0; c < classes; ++c)
    dlogits[image * classes + c] =
        (expf(row[c] - largest) / sum - (c == labels[image] ? 1.0f : 0.0f)) / static_cast<float>(images);
  losses[image] = logf(sum) + largest - row[labels[image]];
  __syncthreads();
  if (image > 0) return;
  float total = 0;
  for (int i = 0; i < images; ++i) total += losses[i];
  *loss = total / static_cast<float>(images);
}

/// A thread for each parameter, and one for each element of dx.
__global__ void backward_kernel(Layer layer, const float* x, const float* parameters, const float* y, const float* dy,
                                float* gradients, float* dx) {
  const int i = my_index(), n = (layer.in + 1) * layer.out;
  const auto before_relu = [&](int at) { return layer.relu && y[at] <= 0 ? 0.0f : dy[at]; };
  float sum = 0;
  if (i < n) {
    const int k = i / layer.out, o = i % layer.out;
    for (int image = 0; image < layer.images; ++image)
      sum += before_relu(image * layer.out + o) * (k < layer.in ? x[image * layer.in + k] : 1.0f);
    gradients[i] = sum;
  } else if (dx && i < n + layer.images * layer.in) {
    const int image = (i - n) / layer.in, k = (i - n) % layer.in;
    for (int o = 0; o < layer.out; ++o) sum += before_relu(image * layer.out + o) * parameters[k * layer.out + o];
    dx[i - n] = sum;
  }
}

__global__ void scale_kernel(float* values, int n, float factor) {
  if (const int i = my_index(); i < n) values[i] *= factor;
}

__global__ void sgd_kernel(float* parameters, const float* gradients, int n, float rate) {
  if (const int i = my_index(); i < n) parameters[i] -= rate * gradients[i];
}

cudaLaunchConfig_t threads(int n, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned int>((n + threads_per_block - 1) / threads_per_block));
  config.blockDim = dim3(threads_per_block);
  config.stream = stream;
  return config;
}

}  // namespace

cudaError_t layer_forward(Layer layer, const float* x, const float* parameters, float* y, cudaStream_t stream) {
  const cudaLaunchConfig_t config = threads(layer.images * layer.out, stream);
  return cudaLaunchKernelEx(&config, forward_kernel, layer, x, parameters, y);
}

cudaError_t loss_forward(int images, int classes, const float* logits, const int* labels, float* loss, float* dlogits,
                         cudaStream_t stream) {
  cudaLaunchConfig_t config = threads(1, stream);
  config.blockDim = dim3(static_cast<unsigned int>(images));
  return cudaLaunchKernelEx(&config, loss_kernel, classes, logits, labels, loss, dlogits);
}

cudaError_t layer_backward(Layer layer, const float* x, const float* parameters, const float* y, const float* dy,
                           float* gradients, float* dx, cudaStream_t stream) {
  const cudaLaunchConfig_t config = threads(layer.parameters() + (dx ? layer.images * layer.in : 0), stream);
  return cudaLaunchKernelEx(&config, backward_kernel, layer, x, parameters, y, dy, gradients, dx);
}

cudaError_t scale(float* values, int n, float factor, cudaStream_t stream) {
  const cudaLaunchConfig_t config = threads(n, stream);
  return cudaLaunchKernelEx(&config, scale_kernel, values, n, factor);
}

cudaError_t sgd(float* parameters, const float* gradients, int n, float rate, cudaStream_t stream) {
  const cudaLaunchConfig_t config = threads(n, stream);
  return cudaLaunchKernelEx(&config, sgd_kernel, parameters, gradients, n, rate);
}

}  // namespace odori::gpus
