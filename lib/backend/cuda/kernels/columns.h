// SPDX-License-Identifier: Apache-2.0
// Device code: one result a column of a matrix of rows x columns, from all its rows: statistics and sums over N, H and
// W of a tensor whose channels come last in memory.
//
// A tile of blockDim.x packs of V columns and a chunk of rows make a block; a thread of it takes every blockDim.y-th
// row of one pack. The threads of a block combine their results in shared memory, the blocks theirs in a second kernel,
// both in a fixed order: the result doesn't depend on which of them is first.
#pragma once

#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {

/// How rows x columns are cut; x and y of the block as above, x of the grid counts chunks, y tiles.
struct Cut {
  dim3 grid, block;
  std::size_t chunk;  // rows
};

inline std::size_t divided(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

/// In chunks of at least `rows_a_thread` times the block's rows, and at most `most_blocks` blocks if the rows allow it.
inline Cut cut(std::size_t rows, int columns, int width, std::size_t rows_a_thread, std::size_t most_blocks) {
  const std::size_t packs = divided(static_cast<std::size_t>(columns), static_cast<std::size_t>(width));
  unsigned int x = 1;
  while (x < packs && x < 32) x *= 2;
  const unsigned int y = threads_per_block / x;
  const std::size_t tiles = divided(packs, x), most_chunks = most_blocks / tiles > 0 ? most_blocks / tiles : 1;
  std::size_t chunk = y * rows_a_thread;
  if (divided(rows, chunk) > most_chunks) chunk = divided(divided(rows, most_chunks), y) * y;
  return {dim3(static_cast<unsigned int>(divided(rows, chunk)), static_cast<unsigned int>(tiles)), dim3(x, y), chunk};
}

/// The first of this thread's V columns.
template <int V>
__device__ int my_column() {
  return static_cast<int>((blockIdx.y * blockDim.x + threadIdx.x) * V);
}

/// Calls work(i) for each of this thread's rows; i: the position of its V elements there.
template <int V, typename Work>
__device__ void for_my_rows(std::size_t rows, int columns, std::size_t chunk, const Work& work) {
  const std::size_t begin = blockIdx.x * chunk, end = begin + chunk < rows ? begin + chunk : rows;
  const std::size_t stride = static_cast<std::size_t>(columns);
#pragma unroll 4
  for (std::size_t row = begin + threadIdx.y; row < end; row += blockDim.y) work(row * stride + my_column<V>());
}

/// The combined results of the threads with the same x, in those whose y is 0. blockDim.y is a power of two.
template <int V, typename Result>
__device__ void combine_rows_of_threads(Result (&mine)[V]) {
  __shared__ Result shared[V][threads_per_block];  // V first: neighbours in a warp meet different banks
  const unsigned int me = threadIdx.y * blockDim.x + threadIdx.x;
  for (int k = 0; k < V; ++k) shared[k][me] = mine[k];
  for (unsigned int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      for (int k = 0; k < V; ++k) shared[k][me].add(shared[k][me + half * blockDim.x]);
  }
  for (int k = 0; k < V; ++k) mine[k] = shared[k][me];
}

}  // namespace odori::cuda::kernels
