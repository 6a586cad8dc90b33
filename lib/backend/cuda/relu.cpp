// SPDX-License-Identifier: Apache-2.0
// y = max(x, 0), in place: the gradient passes where y is positive.
#include "backend/cuda/kernels/relu.h"

#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Relu : public Operation {
 public:
  Relu(const Setup& setup, const Value& x) : setup_(setup) { output_ = x; }

  void forward(Mode) override {
    void* x = output_.data.data();
    kernels::relu(setup_.stream(), setup_.storage, x, x, output_.shape.size());
  }
  void backward() override {
    if (!output_.gradient) return;
    void* g = output_.gradient.data();
    kernels::relu_backward(setup_.stream(), setup_.storage, output_.data.data(), g, g, output_.shape.size());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("relu " + to_string(output_.shape) + " forward and backward: one kernel each, in place");
  }

 private:
  const Setup& setup_;
};

}  // namespace

OperationPtr relu(const Setup& setup, const Value& x) { return std::make_unique<Relu>(setup, x); }

}  // namespace odori::cuda
