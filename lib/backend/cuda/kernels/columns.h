// SPDX-License-Identifier: Apache-2.0
// Device code: one result a column of a matrix of rows x columns, from all its rows: statistics and sums over N, H and
// W of a tensor whose channels come last in memory.
//
// A tile of blockDim.x packs of V columns and a chunk of rows make a block; a thread of it takes every blockDim.y-th
// row of one pack. The threads of a block combine their results in shared memory, the blocks theirs in a second kernel
// or in the last block, all in a fixed order: the result doesn't depend on which of them is first.
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

// ---- The last block combines what all blocks of its tile have left in memory

/// V results of one thread, as one access or several of 16 bytes each where the size allows it.
template <typename Result, int V>
struct alignas(sizeof(Result) * V % 16 == 0 ? 16 : alignof(Result)) ResultPack {
  Result values[V];
};

/// Device memory that the blocks of a grid combine their results in.
template <typename Result>
struct Partial {
  Result* results;        // (gridDim.x + groups) x columns
  unsigned int* arrived;  // gridDim.y x (groups + 1) counters, 0 before and after the kernel; null: a second kernel
};

/// Blocks form groups: the last block of a group combines the group's results, the last group's those of all groups.
/// One block alone would read up to 1024 results a column.
inline __host__ __device__ unsigned int blocks_a_group(unsigned int blocks) {
  unsigned int n = 1;
  while (n * n < blocks) n *= 2;
  return n;
}
inline __host__ __device__ unsigned int groups_of(unsigned int blocks) {
  return (blocks + blocks_a_group(blocks) - 1) / blocks_a_group(blocks);
}

/// Writes the results of the threads with y = 0 into row `row` of `to`.
template <int V, typename Result>
__device__ void leave(Result* to, unsigned int row, int columns, const Result (&mine)[V]) {
  if (my_column<V>() >= columns || threadIdx.y != 0) return;
  ResultPack<Result, V> pack;
  for (int k = 0; k < V; ++k) pack.values[k] = mine[k];
  *reinterpret_cast<ResultPack<Result, V>*>(to + std::size_t{row} * columns + my_column<V>()) = pack;
}

/// Combines rows begin .. begin + n - 1 of `from`, in the threads with y = 0.
template <int V, typename Result>
__device__ void combine(const Result* from, unsigned int begin, unsigned int n, int columns, Result (&mine)[V]) {
  for (int k = 0; k < V; ++k) mine[k] = {};
  if (my_column<V>() < columns)
    for (unsigned int row = threadIdx.y; row < n; row += blockDim.y) {
      const auto pack =
          *reinterpret_cast<const ResultPack<Result, V>*>(from + std::size_t{begin + row} * columns + my_column<V>());
      for (int k = 0; k < V; ++k) mine[k].add(pack.values[k]);
    }
  combine_rows_of_threads(mine);
}

/// True in the last of `n` blocks that call it with this counter, which is 0 again then. That block sees what the
/// others wrote before. Fences as in cooperative groups' grid barrier: one thread's, between two barriers of the block.
inline __device__ bool is_last_of(unsigned int n, unsigned int* arrived) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    last = atomicInc(arrived, n - 1) == n - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Leaves the block's results, which are in the threads with y = 0. True in the tile's last block, whose threads with
/// y = 0 then hold the combined results of all.
template <int V, typename Result>
__device__ bool combine_in_last_block(const Partial<Result>& partial, int columns, Result (&mine)[V]) {
  leave(partial.results, blockIdx.x, columns, mine);
  if (!partial.arrived) return false;
  const unsigned int size = blocks_a_group(gridDim.x), groups = groups_of(gridDim.x), group = blockIdx.x / size;
  const unsigned int begin = group * size, n = begin + size < gridDim.x ? size : gridDim.x - begin;
  unsigned int* arrived = partial.arrived + blockIdx.y * (groups + 1);
  if (!is_last_of(n, arrived + 1 + group)) return false;
  combine(partial.results, begin, n, columns, mine);
  leave(partial.results, gridDim.x + group, columns, mine);
  if (!is_last_of(groups, arrived)) return false;
  combine(partial.results, gridDim.x, groups, columns, mine);
  return true;
}

}  // namespace odori::cuda::kernels
