// SPDX-License-Identifier: Apache-2.0
// y[n, i, j, c] = x[n, i, j, c] + bias[c], in place; the bias's gradient is the sum of y's over n, i and j.
#include "backend/cuda/kernels/bias.h"

#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Bias : public Operation {
 public:
  Bias(const Setup& setup, const Value& x, const ParameterView& bias) : setup_(setup), bias_(bias) {
    output_ = x;
    if (!x.gradient) output_.gradient = setup.plan.gradient(setup.bytes(x.shape), x.gradient_side);
    workspace_ = setup.plan.own(kernels::bias_workspace_bytes(rows(), x.shape.c));
  }

  void forward(Mode) override {
    kernels::add_bias(setup_.stream(), setup_.storage, output_.data.data(), setup_.parameters.value(bias_), rows(),
                      output_.shape.c);
  }
  void backward() override {
    kernels::bias_gradient(setup_.stream(), setup_.storage, output_.gradient.data(), setup_.parameters.gradient(bias_),
                           rows(), output_.shape.c, workspace_.data());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("bias " + to_string(output_.shape) + " forward and backward: one kernel each, in place");
  }

 private:
  int rows() const { return output_.shape.n * output_.shape.h * output_.shape.w; }

  const Setup& setup_;
  ParameterView bias_;
  Place workspace_;
};

}  // namespace

OperationPtr bias(const Setup& setup, const Value& x, const ParameterView& bias) {
  return std::make_unique<Bias>(setup, x, bias);
}

}  // namespace odori::cuda
