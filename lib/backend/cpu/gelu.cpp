// SPDX-License-Identifier: Apache-2.0
// y = x * P(Z <= x). x stays, since its gradient needs it; the gradient of x takes the place of that of y.
#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

class Gelu : public Operation {
 public:
  Gelu(const Setup& setup, const Value& x) : Operation(setup) {
    constexpr auto algorithm = dnnl::algorithm::eltwise_gelu_erf;
    const dnnl::memory::desc layout = x.data.get_desc();
    output_ = {x.shape, setup.plan.own(layout), x.gradient, x.gradient_side};
    const auto forward = describe_elementwise(setup.engine, algorithm, layout);
    const std::string name = "gelu " + to_string(x.shape);
    setup.plan.begin_pass();
    forward_.add(name + " forward", setup, forward, dnnl::eltwise_forward(forward),
                 {{DNNL_ARG_SRC, x.data}, {DNNL_ARG_DST, output_.data}});
    if (!x.gradient) return;
    const auto backward = describe_elementwise_backward(setup.engine, forward, algorithm, layout);
    setup.plan.begin_pass();
    backward_.add(name + " backward", setup, backward, dnnl::eltwise_backward(backward),
                  {{DNNL_ARG_SRC, x.data}, {DNNL_ARG_DIFF_DST, x.gradient}, {DNNL_ARG_DIFF_SRC, x.gradient}});
  }
};

}  // namespace

OperationPtr new_gelu(const Setup& setup, const Value& x) { return std::make_unique<Gelu>(setup, x); }

}  // namespace odori::cpu
