// SPDX-License-Identifier: Apache-2.0
// y = x * P(Z <= x). x stays, since its gradient needs it; the gradient of x takes the place of that of y.
#include "backend/cuda/kernels/gelu.h"

#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Gelu : public Operation {
 public:
  Gelu(const Setup& setup, const Value& x) : setup_(setup), x_(x) {
    output_ = {x.shape, setup.plan.own(setup.bytes(x.shape)), x.gradient, x.gradient_side};
  }

  void forward(Mode) override {
    kernels::gelu(setup_.stream(), setup_.storage, x_.data.data(), output_.data.data(), x_.shape.size());
  }
  void backward() override {
    if (!x_.gradient) return;
    void* g = x_.gradient.data();
    kernels::gelu_backward(setup_.stream(), setup_.storage, x_.data.data(), g, g, x_.shape.size());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("gelu " + to_string(x_.shape) + " forward and backward: one kernel each");
  }

 private:
  const Setup& setup_;
  Value x_;
};

}  // namespace

OperationPtr gelu(const Setup& setup, const Value& x) { return std::make_unique<Gelu>(setup, x); }

}  // namespace odori::cuda
