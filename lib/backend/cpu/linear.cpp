// SPDX-License-Identifier: Apache-2.0
// y[n, o] = bias[o] + sum over i of w[o, i] * x[n, i], where i counts C x H x W of an image in that order.
#include <fmt/core.h>

#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

using dnnl::memory;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeights = dnnl::inner_product_backward_weights;

memory::desc matrix(int rows, int columns, Type type) { return {{rows, columns}, type, memory::format_tag::ab}; }

/// The weight, or its gradient: fp32 is multiplied as it stands, bf16 in the order that oneDNN chooses.
memory::desc weight_matrix(int out, int in, Type activations, Type type) {
  return {{out, in}, type, activations == Type::f32 ? memory::format_tag::ab : memory::format_tag::any};
}

class Linear : public Operation {
 public:
  Linear(const Setup& setup, const Value& x, int out, const ParameterView& weight, const ParameterView* bias)
      : Operation(setup) {
    MemoryPlan& plan = setup.plan;
    const int n = x.shape.n, in = x.shape.features();
    const Shape shape{n, out, 1, 1};
    const int side = 1 - x.gradient_side;
    const memory::desc layout = activation_layout(setup.engine, shape, setup.type);
    output_ = {shape, plan.own(layout), plan.gradient(layout, side), side};
    const memory::desc x_matrix = matrix(n, in, setup.type), y_matrix = matrix(n, out, setup.type);
    const memory y = plan.alias(output_.data, y_matrix), dy = plan.alias(output_.gradient, y_matrix);
    const memory w = plan.in_buffer(setup.memory.parameters, weight.offset, matrix(out, in, Type::f32));
    const memory dw = plan.in_buffer(setup.memory.gradients, weight.offset, matrix(out, in, Type::f32));
    const memory::desc multiplied = weight_matrix(out, in, setup.type, setup.type);
    const memory::desc bias_layout = bias ? vector_layout(out) : memory::desc();
    const std::string name = fmt::format("linear {} -> {}", to_string(x.shape), to_string(shape));

    // Vectors, and layouts that are the same as vectors, are taken as they are.
    const bool flat = x.shape.h * x.shape.w == 1 && x.data.get_desc().get_size() == x_matrix.get_size();
    const auto flatten = [&](const memory& m) { return plan.alias(m, x_matrix); };
    const auto images = [&](const memory& m) { return plan.alias(m, as_images(m.get_desc())); };
    plan.begin_pass();
    memory plain_x = x.data;
    if (!flat) {
      plain_x = plan.own(plain_layout(x.shape, setup.type));
      forward_.add_reorder(name + " flatten", setup, images(x.data), plain_x);
    }
    const auto forward = describe_forward<Forward>(setup.engine, dnnl::prop_kind::forward_training, x_matrix,
                                                   multiplied, bias_layout, y_matrix);
    Steps::Arguments arguments{
        {DNNL_ARG_SRC, flatten(plain_x)},
        {DNNL_ARG_WEIGHTS, forward_.in_layout(name + " weights", setup, w, forward.weights_desc())},
        {DNNL_ARG_DST, y}};
    if (bias) arguments[DNNL_ARG_BIAS] = plan.in_buffer(setup.memory.parameters, bias->offset, bias_layout);
    forward_.add(name + " forward", setup, forward, Forward(forward), arguments);

    plan.begin_pass();
    const auto weights = describe_backward<BackwardWeights>(
        setup.engine, forward, x_matrix, weight_matrix(out, in, setup.type, Type::f32), bias_layout, y_matrix);
    const bool same = weights.diff_weights_desc() == dw.get_desc();
    const memory computed = same ? dw : plan.scratch(weights.diff_weights_desc());
    arguments = {{DNNL_ARG_SRC, flatten(plain_x)}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, computed}};
    if (bias) arguments[DNNL_ARG_DIFF_BIAS] = plan.in_buffer(setup.memory.gradients, bias->offset, bias_layout);
    backward_.add(name + " backward weights", setup, weights, BackwardWeights(weights), arguments);
    if (!same) backward_.add_reorder(name + " weight gradients", setup, computed, dw);

    if (!x.gradient) return;
    plan.begin_pass();
    const memory plain_dx = flat ? x.gradient : plan.scratch(plain_layout(x.shape, setup.type));
    const auto data = describe_backward<BackwardData>(setup.engine, forward, x_matrix, multiplied, y_matrix);
    const memory weights_there = backward_.in_layout(name + " weights", setup, w, data.weights_desc());
    backward_.add(name + " backward data", setup, data, BackwardData(data),
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weights_there}, {DNNL_ARG_DIFF_SRC, flatten(plain_dx)}});
    if (!flat) backward_.add_reorder(name + " unflatten", setup, plain_dx, images(x.gradient));
  }
};

}  // namespace

OperationPtr new_linear(const Setup& setup, const Value& x, int out, const ParameterView& weight,
                        const ParameterView* bias) {
  return std::make_unique<Linear>(setup, x, out, weight, bias);
}

}  // namespace odori::cpu
