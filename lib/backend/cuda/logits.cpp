// SPDX-License-Identifier: Apache-2.0
// y = scale * x, in place, and what smoothed labels change of the gradient (kernels/logits.h).
#include "backend/cuda/kernels/logits.h"

#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

class Logits : public Operation {
 public:
  Logits(const Setup& setup, const Value& x, const LogitsSpec& spec) : setup_(setup), spec_(spec) {
    require(x.shape.h * x.shape.w == 1 && x.gradient,
            "Logits are one number a class and example, but here is {}. Put a linear layer before them.",
            to_string(x.shape));
    output_ = x;
  }

  void forward(Mode) override {
    kernels::logits(setup_.stream(), setup_.storage, output_.data.data(), spec_, output_.shape.n, output_.shape.c);
  }
  void backward() override {
    kernels::logits_backward(setup_.stream(), setup_.storage, output_.gradient.data(), spec_, output_.shape.n,
                             output_.shape.c, setup_.step_data());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("logits " + to_string(output_.shape) + " forward and backward: one kernel each, in place");
  }

 private:
  const Setup& setup_;
  LogitsSpec spec_;
};

}  // namespace

OperationPtr logits(const Setup& setup, const Value& x, const LogitsSpec& spec) {
  return std::make_unique<Logits>(setup, x, spec);
}

}  // namespace odori::cuda
