// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernels/bias.h"
#include "backend/cuda/kernels/columns.h"

namespace odori::cuda::kernels {
namespace {

template <typename T>
__global__ void add_bias_kernel(T* y, const float* bias, int rows, int columns) {
  const std::size_t n = static_cast<std::size_t>(rows) * columns;
  for_my_numbers<1>(n, [&](auto width, std::size_t i) {
    auto a = read<width.value>(y + i);
    a[0] += bias[i % columns];
    write(y + i, a);
  });
}

struct Sum {
  float value;
  __device__ void add(const Sum& other) { value += other.value; }
};

/// All rows in one chunk.
template <typename T>
__global__ void bias_gradient_kernel(const T* gy, float* gbias, int rows, int columns) {
  const int column = my_column<1>();
  Sum mine[1] = {};
  if (column < columns)
    for_my_rows<1>(rows, columns, rows, [&](std::size_t i) { mine[0].value += read<1>(gy + i)[0]; });
  combine_rows_of_threads(mine);
  if (column < columns && threadIdx.y == 0) gbias[column] = mine[0].value;
}

}  // namespace

void add_bias(cudaStream_t stream, Storage storage, void* y, const float* bias, int rows, int columns) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    launch("bias", add_bias_kernel<T>, stream, blocks_for<1>(n), threads_per_block, static_cast<T*>(y), bias, rows,
           columns);
  });
}

void bias_gradient(cudaStream_t stream, Storage storage, const void* gy, float* gbias, int rows, int columns) {
  with_type(storage, false, [&](auto type, auto) {
    using T = decltype(type);
    const auto tiles = static_cast<unsigned int>(divided(static_cast<std::size_t>(columns), 8));
    launch("bias, backward", bias_gradient_kernel<T>, stream, dim3(1, tiles), dim3(8, threads_per_block / 8),
           static_cast<const T*>(gy), gbias, rows, columns);
  });
}

}  // namespace odori::cuda::kernels
