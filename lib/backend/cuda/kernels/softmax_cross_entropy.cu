// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

/// The metrics of a lane, added up over the warp in a fixed order. All lanes take part.
__device__ Metrics sum_of_warp(Metrics mine) {
  for (int distance = warp / 2; distance > 0; distance /= 2) {
    mine.loss_sum += __shfl_xor_sync(0xffffffff, mine.loss_sum, distance);
    mine.correct += __shfl_xor_sync(0xffffffff, mine.correct, distance);
    mine.samples += __shfl_xor_sync(0xffffffff, mine.samples, distance);
  }
  return mine;
}

/// Of all warps of the grid, warp i takes the examples i, i + warps, ... The last block adds up.
template <typename T>
__global__ void metrics_kernel(const T* x, int classes, const Step* step, MetricsMemory* memory) {
  wait_for_previous_kernel();
  constexpr int warps = threads_per_block / warp;
  static_assert(warps <= warp && MetricsMemory::most_blocks <= warp);
  __shared__ double loss_sum[warps];
  __shared__ int correct[warps], samples[warps];
  __shared__ bool is_last;
  const int mine = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
  Metrics own;
  for (int i = static_cast<int>(blockIdx.x) * warps + mine; i < step->examples;
       i += warps * static_cast<int>(gridDim.x)) {
    const StepExample example = step->example()[i];
    if (!example.counted) continue;
    const T* logits = x + static_cast<std::size_t>(i) * classes;
    const Row row = read_row(logits, classes);
    own.loss_sum += static_cast<double>(logf(row.sum)) - (to_float(logits[example.label]) - row.largest);
    own.correct += row.place == example.label;
    ++own.samples;
  }
  if (lane == 0) {
    loss_sum[mine] = own.loss_sum;
    correct[mine] = static_cast<int>(own.correct), samples[mine] = static_cast<int>(own.samples);
  }
  __syncthreads();
  Metrics of_lane;
  if (threadIdx.x < warps) of_lane = {loss_sum[lane], correct[lane], samples[lane]};
  if (mine == 0) of_lane = sum_of_warp(of_lane);
  if (threadIdx.x == 0) {
    memory->of_block[blockIdx.x] = of_lane;
    __threadfence();  // before others see that it has ended
    is_last = atomicAdd(&memory->ended, 1u) == gridDim.x - 1;
    __threadfence();  // before it reads what others have written
  }
  __syncthreads();
  if (!is_last || mine != 0) return;
  of_lane = {};
  if (threadIdx.x < gridDim.x) {
    const volatile Metrics& theirs = memory->of_block[threadIdx.x];  // not from this processor's cache
    of_lane = {theirs.loss_sum, theirs.correct, theirs.samples};
  }
  const Metrics of_batch = sum_of_warp(of_lane);
  if (lane != 0) return;
  memory->sum.loss_sum += of_batch.loss_sum;
  memory->sum.correct += of_batch.correct;
  memory->sum.samples += of_batch.samples;
  memory->ended = 0;
}

/// A warp an example.
template <typename T>
__global__ void backward(const T* x, T* gx, int batch, int classes, const Step* step) {
  wait_for_previous_kernel();
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

void softmax_cross_entropy(cudaStream_t stream, Storage storage, const void* x, int batch, int classes,
                           const Step* step, MetricsMemory* memory, bool several) {
  constexpr int warps = threads_per_block / warp;
  const int blocks = several ? std::min(MetricsMemory::most_blocks, (batch + warps - 1) / warps) : 1;
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    launch("softmax cross entropy", metrics_kernel<T>, stream, blocks, threads_per_block, static_cast<const T*>(x),
           classes, step, memory);
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
