// SPDX-License-Identifier: Apache-2.0
// y[n, o] = bias[o] + sum over i of w[o, i] * x[n, i]. On GPUs i counts H x W x C of an image, as it stands in memory;
// the graph translates where a weight is read or written (CudaGraph::stored_shape).
#include <fmt/core.h>

#include <optional>

#include "backend/cuda/kernels/bias.h"
#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Linear : public Operation {
 public:
  Linear(const Setup& setup, const Value& x, int out, const ParameterView& weight, const ParameterView* bias)
      : setup_(setup), x_(x), n_(x.shape.n), in_(x.shape.features()), out_(out), weight_(weight) {
    if (bias) bias_ = *bias;
    const Shape shape{n_, out, 1, 1};
    const int side = 1 - x.gradient_side;
    output_ = {shape, setup.plan.own(setup.bytes(shape)), setup.plan.gradient(setup.bytes(shape), side), side};
  }

  // cuBLAS counts columns first, so each matrix here is its own transpose there: y' = w x', gx' = w' gy', gw' = x' gy.
  void forward(Mode) override {
    const Operand w{setup_.parameters.weight(weight_), in_, CUBLAS_OP_T}, x{x_.data.data(), in_, CUBLAS_OP_N};
    void* y = output_.data.data();
    multiply(w, x, {out_, n_, in_}, y, setup_.storage);
    if (bias_) kernels::add_bias(setup_.stream(), setup_.storage, y, setup_.parameters.value(*bias_), n_, out_);
  }
  void backward() override {
    const Operand x{x_.data.data(), in_, CUBLAS_OP_N};
    const void* gy = output_.gradient.data();
    multiply(x, {gy, out_, CUBLAS_OP_T}, {in_, out_, n_}, setup_.parameters.gradient(weight_), Storage::fp32);
    if (bias_)
      kernels::bias_gradient(setup_.stream(), setup_.storage, gy, setup_.parameters.gradient(*bias_), n_, out_);
    if (!x_.gradient) return;
    const Operand w{setup_.parameters.weight(weight_), in_, CUBLAS_OP_N};
    multiply(w, {gy, out_, CUBLAS_OP_N}, {in_, n_, out_}, x_.gradient.data(), setup_.storage);
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back(fmt::format("linear {} -> {} forward and backward: cuBLAS, {}", to_string(x_.shape),
                                to_string(output_.shape), to_string(setup_.device.precision())));
  }

 private:
  struct Operand {
    const void* data;
    int leading;  // numbers from one column to the next
    cublasOperation_t operation;
  };
  struct Sizes {
    int rows, columns, inner;  // of the result, and how long its sums are
  };
  static cudaDataType_t type_of(Storage storage) { return storage == Storage::fp32 ? CUDA_R_32F : CUDA_R_16BF; }

  /// result = a * b, rows of it one behind another. Sums are fp32.
  void multiply(const Operand& a, const Operand& b, const Sizes& sizes, void* result, Storage storage) const {
    const bool tf32 = setup_.device.precision() == Precision::tf32;
    const float one = 1, zero = 0;
    check(cublasGemmEx(setup_.device.blas(), a.operation, b.operation, sizes.rows, sizes.columns, sizes.inner, &one,
                       a.data, type_of(setup_.storage), a.leading, b.data, type_of(setup_.storage), b.leading, &zero,
                       result, type_of(storage), sizes.rows, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT),
          "multiplying matrices");
  }

  const Setup& setup_;
  Value x_;
  int n_, in_, out_;
  ParameterView weight_;
  std::optional<ParameterView> bias_;
};

}  // namespace

OperationPtr new_linear(const Setup& setup, const Value& x, int out, const ParameterView& weight,
                        const ParameterView* bias) {
  return std::make_unique<Linear>(setup, x, out, weight, bias);
}

}  // namespace odori::cuda
