// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/bias.h"
#include "backend/cuda/kernels/columns.h"

namespace odori::cuda::kernels {
namespace {

template <typename T, int V>
__global__ void add_bias_kernel(T* y, const float* bias, std::size_t n, int columns) {
  wait_for_previous_kernel();
  for_my_numbers<V>(n, [&](auto width, std::size_t i) {
    auto a = read<width.value>(y + i);
    const auto b = read<width.value>(bias + i % columns);
    for (int k = 0; k < width.value; ++k) a[k] += b[k];
    write(y + i, a);
  });
}

struct Sum {
  float value;
  __device__ void add(const Sum& other) { value += other.value; }
};

/// Without room for partial results, all rows are one chunk.
template <typename T, int V>
__global__ void bias_gradient_kernel(const T* gy, float* gbias, std::size_t rows, int columns, std::size_t chunk,
                                     Partial<Sum> partial) {
  wait_for_previous_kernel();
  const int column = my_column<V>();
  Sum mine[V] = {};
  if (column < columns)
    for_my_rows<V>(rows, columns, chunk, [&](std::size_t i) {
      const auto g = read<V>(gy + i);
      for (int k = 0; k < V; ++k) mine[k].value += g[k];
    });
  combine_rows_of_threads(mine);
  if (partial.results && !combine_in_last_block(partial, columns, mine)) return;
  if (column < columns && threadIdx.y == 0)
    for (int k = 0; k < V; ++k) gbias[column + k] = mine[k].value;
}

constexpr std::size_t most_blocks = 1024;  // that leave a partial result each

Cut cut_for_gradient(int rows, int columns, int width) {
  return cut(static_cast<std::size_t>(rows), columns, width, 4, most_blocks);
}

std::size_t counter_bytes(const Cut& c) { return divided(c.grid.y * (groups_of(c.grid.x) + 1) * 4, 16) * 16; }

/// Calls work(T(), Constant<V>()): 16 bytes at a time if every row begins at a multiple of them.
template <typename Work>
void with_type_of(Storage storage, int columns, bool lie_well, const Work& work) {
  with_type(storage, lie_well && static_cast<std::size_t>(columns) * bytes_of(storage) % 16 == 0, work);
}

}  // namespace

void add_bias(cudaStream_t stream, Storage storage, void* y, const float* bias, int rows, int columns) {
  with_type_of(storage, columns, aligned(y, bias), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    launch("bias", add_bias_kernel<T, V>, stream, blocks_for<V>(n), threads_per_block, static_cast<T*>(y), bias, n,
           columns);
  });
}

std::size_t bias_workspace_bytes(int rows, int columns) {
  std::size_t most = 0;
  for (const int width : {1, 4, 8}) {
    const Cut c = cut_for_gradient(rows, columns, width);
    const std::size_t results = (c.grid.x + groups_of(c.grid.x)) * static_cast<std::size_t>(columns);
    const std::size_t bytes = counter_bytes(c) + results * sizeof(Sum);
    most = bytes > most ? bytes : most;
  }
  return most;
}

void bias_gradient(cudaStream_t stream, Storage storage, const void* gy, float* gbias, int rows, int columns,
                   void* workspace) {
  const auto n_rows = static_cast<std::size_t>(rows);
  with_type_of(storage, columns, workspace && aligned(gy), [&](auto type, auto width) {
    using T = decltype(type);
    constexpr int V = decltype(width)::value;
    const auto start = [&](const Cut& c, const Partial<Sum>& partial) {
      launch("bias, backward", bias_gradient_kernel<T, V>, stream, c.grid, c.block, static_cast<const T*>(gy), gbias,
             n_rows, columns, c.chunk, partial);
    };
    if (workspace) {
      const Cut c = cut_for_gradient(rows, columns, V);
      start(c, {reinterpret_cast<Sum*>(static_cast<char*>(workspace) + counter_bytes(c)),
                static_cast<unsigned int*>(workspace)});
    } else {
      const auto tiles = static_cast<unsigned int>(divided(static_cast<std::size_t>(columns), 8));
      start({dim3(1, tiles), dim3(8, threads_per_block / 8), n_rows}, {nullptr, nullptr});
    }
  });
}

}  // namespace odori::cuda::kernels
