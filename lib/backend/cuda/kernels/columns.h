// SPDX-License-Identifier: Apache-2.0
// Device code: column-wise reductions of a rows x columns matrix, such as statistics over N, H and W of a channels-last
// tensor.
//
// A block handles a tile of blockDim.x packs of V columns and a chunk of rows; a thread handles every blockDim.y-th row
// of one pack. Threads combine their results in shared memory, blocks in a second kernel or in the last block, always
// in a fixed order, so the result does not depend on scheduling.
#pragma once

#include "backend/cuda/kernels/numbers.h"

namespace odori::cuda::kernels {

/// Launch configuration. grid.x: chunks; grid.y: tiles; block as above.
struct Cut {
  dim3 grid, block;
  std::size_t chunk;  // rows
};

inline std::size_t divided(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

/// Chooses chunks of at least `rows_a_thread` rows per thread, and at most `most_blocks` blocks if possible.
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

/// Index of the first of this thread's V columns.
template <int V>
__device__ int my_column() {
  return static_cast<int>((blockIdx.y * blockDim.x + threadIdx.x) * V);
}

/// Calls work(i) for each of this thread's rows; i: position of its V elements in that row.
template <int V, typename Work>
__device__ void for_my_rows(std::size_t rows, int columns, std::size_t chunk, const Work& work) {
  const std::size_t begin = blockIdx.x * chunk, end = begin + chunk < rows ? begin + chunk : rows;
  const std::size_t stride = static_cast<std::size_t>(columns);
#pragma unroll 4
  for (std::size_t row = begin + threadIdx.y; row < end; row += blockDim.y) work(row * stride + my_column<V>());
}

/// Combines the results of the threads with the same x; those with y = 0 get the result. blockDim.y must be a power of
/// two.
template <int V, typename Result>
__device__ void combine_rows_of_threads(Result (&mine)[V]) {
  __shared__ Result shared[V][threads_per_block];  // V first: no bank conflicts within a warp
  const unsigned int me = threadIdx.y * blockDim.x + threadIdx.x;
  for (int k = 0; k < V; ++k) shared[k][me] = mine[k];
  for (unsigned int half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      for (int k = 0; k < V; ++k) shared[k][me].add(shared[k][me + half * blockDim.x]);
  }
  for (int k = 0; k < V; ++k) mine[k] = shared[k][me];
}

// ---- Reduction over the blocks of a tile by the last block

/// V results of one thread, accessed 16 bytes at a time if their size is a multiple of 16.
template <typename Result, int V>
struct alignas(sizeof(Result) * V % 16 == 0 ? 16 : alignof(Result)) ResultPack {
  Result values[V];
};

/// Device memory for partial results of blocks.
template <typename Result>
struct Partial {
  Result* results;        // (gridDim.x + groups) x columns
  unsigned int* arrived;  // gridDim.y x (groups + 1) counters, 0 before and after the kernel; null: a second kernel
};

/// Blocks form groups: the last block of each group combines the group's results, and the last of these blocks combines
/// those of all groups. A single block would read up to 1024 results per column.
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

/// Returns true in the last of `n` blocks that call it with this counter, and resets the counter to 0. That block sees
/// what the others wrote before. Fences as in the grid barrier of cooperative groups: by one thread, between two
/// barriers of the block.
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

/// Writes the block's results, from threads with y = 0. Returns true in the tile's last block, whose threads with y = 0
/// then have the combined results of all blocks.
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
