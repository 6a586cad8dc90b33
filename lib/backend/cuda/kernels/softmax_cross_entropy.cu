// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/numbers.h"
#include "backend/cuda/kernels/softmax_cross_entropy.h"

namespace odori::cuda::kernels {
namespace {

constexpr int warp = 32;

/// What a row of x comes to, in every thread of the warp that reads it.
struct Row {
  float largest;
  int place;  // of the largest: the first one, where several are equal
  float sum;  // of exp(x - largest): without the subtraction, exp overflows
};

template <typename T>
__device__ Row read_row(const T* x, int classes) {
  const int lane = static_cast<int>(threadIdx.x % warp);
  Row row{-INFINITY, classes, 0};
  for (int c = lane; c < classes; c += warp) {
    const float value = to_float(x[c]);
    if (value > row.largest) row.largest = value, row.place = c;
  }
  for (int distance = warp / 2; distance > 0; distance /= 2) {
    const float value = __shfl_xor_sync(0xffffffff, row.largest, distance);
    const int place = __shfl_xor_sync(0xffffffff, row.place, distance);
    if (value > row.largest || (value == row.largest && place < row.place)) row.largest = value, row.place = place;
  }
  for (int c = lane; c < classes; c += warp) row.sum += expf(to_float(x[c]) - row.largest);
  for (int distance = warp / 2; distance > 0; distance /= 2) row.sum += __shfl_xor_sync(0xffffffff, row.sum, distance);
  return row;
}

/// One block. Warp i takes the examples i, i + warps, ...; then its first thread adds up what the warps have.
template <typename T>
__global__ void metrics_kernel(const T* x, int classes, const Step* step, Metrics* metrics) {
  constexpr int most_warps = threads_per_block / warp;
  __shared__ double loss_sum[most_warps];
  __shared__ int correct[most_warps], samples[most_warps];
  const int mine = static_cast<int>(threadIdx.x) / warp;
  double my_loss_sum = 0;
  int my_correct = 0, my_samples = 0;
  for (int i = mine; i < step->examples; i += most_warps) {
    const StepExample example = step->example()[i];
    if (!example.counted) continue;
    const T* logits = x + static_cast<std::size_t>(i) * classes;
    const Row row = read_row(logits, classes);
    my_loss_sum += static_cast<double>(logf(row.sum)) - (to_float(logits[example.label]) - row.largest);
    my_correct += row.place == example.label;
    ++my_samples;
  }
  if (threadIdx.x % warp == 0) loss_sum[mine] = my_loss_sum, correct[mine] = my_correct, samples[mine] = my_samples;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 0; w < most_warps; ++w) {
    metrics->loss_sum += loss_sum[w];
    metrics->correct += correct[w];
    metrics->samples += samples[w];
  }
}

/// A warp an example.
template <typename T>
__global__ void backward(const T* x, T* gx, int batch, int classes, const Step* step) {
  const int i = static_cast<int>((std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (i >= batch) return;
  x += static_cast<std::size_t>(i) * classes;
  gx += static_cast<std::size_t>(i) * classes;
  const bool counts = i < step->examples;
  const int label = step->example()[i].label;
  const Row row = read_row(x, classes);
  const float part = counts ? 1 / static_cast<float>(batch) : 0;
  for (int c = static_cast<int>(threadIdx.x % warp); c < classes; c += warp) {
    const float probability = expf(to_float(x[c]) - row.largest) / row.sum;
    assign(gx[c], part * (probability - (c == label ? 1 : 0)));
  }
}

}  // namespace

void softmax_cross_entropy(cudaStream_t stream, Storage storage, const void* x, int classes, const Step* step,
                           Metrics* metrics) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("softmax cross entropy", metrics_kernel<T>, stream, 1, threads_per_block, static_cast<const T*>(x), classes,
           step, metrics);
  });
}

void softmax_cross_entropy_backward(cudaStream_t stream, Storage storage, const void* x, void* gx, int batch,
                                    int classes, const Step* step) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("softmax cross entropy, backward", backward<T>, stream, blocks_for<1>(std::size_t(batch) * warp),
           threads_per_block, static_cast<const T*>(x), static_cast<T*>(gx), batch, classes, step);
  });
}

}  // namespace odori::cuda::kernels
