// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/logits.h"
#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {
namespace {

/// A thread an element.
template <typename T>
__global__ void forward(T* x, float scale, int n) {
  wait_for_previous_kernel();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) assign(x[i], scale * to_float(x[i]));
}

template <typename T>
__global__ void backward(T* g, LogitsSpec spec, int batch, int classes, const Step* step) {
  wait_for_previous_kernel();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= batch * classes) return;
  const int example = i / classes;
  float change = 0;
  if (example < step->examples) {
    const float label = i % classes == step->example()[example].label ? 1.0f : 0.0f;
    change = spec.smoothing / static_cast<float>(batch) * (label - 1.0f / static_cast<float>(classes));
  }
  assign(g[i], spec.scale * (to_float(g[i]) + change));
}

}  // namespace

void logits(cudaStream_t stream, Storage storage, void* x, const LogitsSpec& spec, int batch, int classes) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("logits", forward<T>, stream, blocks_for<1>(std::size_t(batch) * classes), threads_per_block,
           static_cast<T*>(x), spec.scale, batch * classes);
  });
}

void logits_backward(cudaStream_t stream, Storage storage, void* g, const LogitsSpec& spec, int batch, int classes,
                     const Step* step) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("logits, backward", backward<T>, stream, blocks_for<1>(std::size_t(batch) * classes), threads_per_block,
           static_cast<T*>(g), spec, batch, classes, step);
  });
}

}  // namespace odori::cuda::kernels
