// SPDX-License-Identifier: Apache-2.0
// loss = mean over n of (log(sum over c of exp(x[n, c])) - x[n, label]); dx[n, c] = (softmax(x)[n, c] - [c = label]) /
// N.
#include "backend/cuda/kernels/softmax_cross_entropy.h"

#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

class SoftmaxCrossEntropy : public Operation {
 public:
  SoftmaxCrossEntropy(const Setup& setup, const Value& x) : setup_(setup) {
    require(x.shape.h * x.shape.w == 1,
            "Softmax needs one number a class and example, but gets {}. Put a linear layer before it.",
            to_string(x.shape));
    output_ = x;
  }

  void forward(Mode) override {
    kernels::softmax_cross_entropy(setup_.stream(), setup_.storage, output_.data.data(), output_.shape.n,
                                   output_.shape.c, setup_.step_data(),
                                   reinterpret_cast<kernels::MetricsMemory*>(setup_.metrics.get()),
                                   setup_.device.has(GpuOptimization::parallel_metrics));
  }
  void backward() override {
    kernels::softmax_cross_entropy_backward(setup_.stream(), setup_.storage, output_.data.data(),
                                            output_.gradient.data(), output_.shape.n, output_.shape.c,
                                            setup_.step_data());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("softmax cross entropy " + to_string(output_.shape) + " forward and backward: one kernel each");
  }

 private:
  const Setup& setup_;
};

}  // namespace

OperationPtr softmax_cross_entropy(const Setup& setup, const Value& x) {
  return std::make_unique<SoftmaxCrossEntropy>(setup, x);
}

}  // namespace odori::cuda
