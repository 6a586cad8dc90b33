// SPDX-License-Identifier: Apache-2.0
// Implements the subset of cuBLAS: matrix products as plain loops.
#include <cublas_v2.h>

#include <algorithm>

#include "backend/emulated/elements.h"
#include "backend/emulated/machine.h"
#include "backend/emulated/stream.h"

using namespace odori::emulator;

struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace {

/// A matrix in row-major order.
struct Matrix {
  int rows, columns;
  std::vector<float> values;
};

/// An argument of cublasGemmEx, in column-major order.
struct Operand {
  cublasOperation_t operation;
  int rows, columns;  // of op(matrix)
  const void* data;
  bool bf16;
  int leading_dimension;

  /// Returns the elements from the first to the last one, with gaps between columns.
  std::size_t size() const {
    const int last = (operation == CUBLAS_OP_N ? columns : rows) - 1;
    return static_cast<std::size_t>(last) * static_cast<std::size_t>(leading_dimension) +
           static_cast<std::size_t>(operation == CUBLAS_OP_N ? rows : columns);
  }
  Matrix read(bool tf32) const {
    const std::vector<float> all = read_elements(data, bf16, size(), tf32);
    Matrix matrix{rows, columns, {}};
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        matrix.values.push_back(all[static_cast<std::size_t>(operation == CUBLAS_OP_N ? c : r) *
                                        static_cast<std::size_t>(leading_dimension) +
                                    static_cast<std::size_t>(operation == CUBLAS_OP_N ? r : c)]);
    return matrix;
  }
};

/// Returns a * b in column-major order.
std::vector<float> product(const Matrix& a, const Matrix& b) {
  const auto m = static_cast<std::size_t>(a.rows), n = static_cast<std::size_t>(b.columns);
  std::vector<float> row(n), result(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (std::size_t k = 0; k < static_cast<std::size_t>(a.columns); ++k) {
      const float factor = a.values[i * static_cast<std::size_t>(a.columns) + k];
      for (std::size_t j = 0; j < n; ++j) row[j] += factor * b.values[k * n + j];
    }
    for (std::size_t j = 0; j < n; ++j) result[j * m + i] = row[j];
  }
  return result;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void* workspace, size_t bytes) {
  return find_allocation(workspace, bytes) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                                 : "CUBLAS_STATUS_NOT_SUPPORTED";
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_operation, cublasOperation_t b_operation, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda,
                            const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                            cudaDataType_t c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
  // The kit uses no other case.
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0 || ldc != m || a_type != b_type)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const Operand left{a_operation, m, k, a, a_type == CUDA_R_16BF, lda};
  const Operand right{b_operation, k, n, b, b_type == CUDA_R_16BF, ldb};
  if (lda < (a_operation == CUBLAS_OP_N ? m : k) || ldb < (b_operation == CUBLAS_OP_N ? k : n))
    return CUBLAS_STATUS_INVALID_VALUE;
  const std::size_t c_size = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  for (const auto& [data, bytes] : {std::pair{a, left.size() * (left.bf16 ? 2 : 4)},
                                    {b, right.size() * (right.bf16 ? 2 : 4)},
                                    {c, c_size * (c_type == CUDA_R_16BF ? 2 : 4)}})
    if (!find_allocation(data, bytes)) fatal("cublasGemmEx: a matrix is not inside an allocation.");
  const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const cudaError_t error = queue_launch(
      handle->stream, [=] { write_elements(product(left.read(tf32), right.read(tf32)), c, c_type == CUDA_R_16BF); });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
