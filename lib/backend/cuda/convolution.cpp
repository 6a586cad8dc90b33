// SPDX-License-Identifier: Apache-2.0
// y[n, o, i, j] = sum over c, k, l of w[o, c, k, l] * x[n, c, i * stride + k - padding, j * stride + l - padding]
#include <fmt/core.h>

#include "backend/cuda/convolution_algorithm.h"
#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Convolution : public Operation {
 public:
  Convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec, const ParameterView& weight)
      : setup_(setup), x_(x), weight_(weight) {
    setup.device.bind_thread();  // plans may be measured
    const int side = 1 - x.gradient_side;
    output_.shape = spec.output(x.shape);
    output_.data = setup.plan.own(setup.bytes(output_.shape));
    output_.gradient = setup.plan.gradient(setup.bytes(output_.shape), side);
    output_.gradient_side = side;

    forward_ = new_pass(Pass::forward, spec);
    if (x.gradient) backward_data_ = new_pass(Pass::backward_data, spec);
    backward_weights_ = new_pass(Pass::backward_weights, spec);
    setup.parameters.compute_in_storage(weight);  // cuDNN writes a gradient in the type of the factors
  }

  void forward(Mode) override { run(forward_, x_.data.data(), setup_.parameters.weight(weight_), output_.data.data()); }
  void backward() override {
    const void* gy = output_.gradient.data();
    run(backward_weights_, x_.data.data(), gy, setup_.parameters.gradient_in_storage(weight_));
    setup_.parameters.written(weight_, setup_.stream());
    if (x_.gradient) run(backward_data_, gy, setup_.parameters.weight(weight_), x_.gradient.data());
  }
  void describe(std::vector<std::string>& lines) const override {
    for (const PassOnDevice* pass : {&forward_, &backward_data_, &backward_weights_})
      if (pass->chosen.plan) lines.push_back(pass->line);
  }

 private:
  struct PassOnDevice {
    ChosenPlan chosen;
    Place workspace;
    std::string line;
  };

  PassOnDevice new_pass(Pass pass, const ConvolutionSpec& spec) const {
    ChosenPlan chosen = choose_plan(setup_, {x_.shape, output_.shape, spec, pass, setup_.device.precision()});
    setup_.plan.begin_pass();
    const Place workspace = setup_.plan.scratch(chosen.plan->workspace_bytes());
    const std::string line = fmt::format("convolution {} -> {} {}: {}", to_string(x_.shape), to_string(output_.shape),
                                         to_string(pass), chosen.line);
    return {std::move(chosen), workspace, line};
  }
  static void run(const PassOnDevice& pass, const void* first, const void* second, void* result) {
    pass.chosen.plan->run({first, second, result, pass.workspace.data()});
  }

  const Setup& setup_;
  Value x_;
  ParameterView weight_;
  PassOnDevice forward_, backward_data_, backward_weights_;
};

}  // namespace

OperationPtr new_convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec,
                             const ParameterView& weight) {
  return std::make_unique<Convolution>(setup, x, spec, weight);
}

}  // namespace odori::cuda
