// SPDX-License-Identifier: Apache-2.0
// y[n, c, i, j] = x[n, c, i, j] + bias[c], in place; the bias's gradient is the sum of y's over n, i and j.
#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

using dnnl::memory;

class Bias : public Operation {
 public:
  Bias(const Setup& setup, const Value& x, const ParameterView& bias) : Operation(setup) {
    MemoryPlan& plan = setup.plan;
    const memory::desc layout = x.data.get_desc();
    output_ = x;
    if (!x.gradient) output_.gradient = plan.gradient(layout, x.gradient_side);
    // As many dimensions as the activation has, each of size 1 but for the channels.
    memory::dims sizes_of_bias(sizes(layout).size(), 1);
    sizes_of_bias[1] = x.shape.c;
    const auto tag = sizes_of_bias.size() == 4 ? memory::format_tag::nchw : memory::format_tag::ncdhw;
    const memory::desc vector(sizes_of_bias, Type::f32, tag);
    const std::string name = "bias " + to_string(x.shape);

    const auto forward =
        describe_forward<dnnl::binary>(setup.engine, dnnl::algorithm::binary_add, layout, vector, layout);
    plan.begin_pass();
    forward_.add(name + " forward", setup, forward, dnnl::binary(forward),
                 {{DNNL_ARG_SRC_0, x.data},
                  {DNNL_ARG_SRC_1, plan.in_buffer(setup.memory.parameters, bias.offset, vector)},
                  {DNNL_ARG_DST, x.data}});
    const auto backward =
        describe_forward<dnnl::reduction>(setup.engine, dnnl::algorithm::reduction_sum, layout, vector, 0.0f, 0.0f);
    plan.begin_pass();
    backward_.add(name + " backward", setup, backward, dnnl::reduction(backward),
                  {{DNNL_ARG_SRC, output_.gradient},
                   {DNNL_ARG_DST, plan.in_buffer(setup.memory.gradients, bias.offset, vector)}});
  }
};

}  // namespace

OperationPtr new_bias(const Setup& setup, const Value& x, const ParameterView& bias) {
  return std::make_unique<Bias>(setup, x, bias);
}

}  // namespace odori::cpu
