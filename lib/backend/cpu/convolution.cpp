// SPDX-License-Identifier: Apache-2.0
// y[n, o, i, j] = sum over c, k, l of w[o, c, k, l] * x[n, c, i * stride + k - padding, j * stride + l - padding]
#include <fmt/core.h>

#include <cstring>
#include <string_view>

#include "backend/cpu/convolution_algorithm.h"
#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;

/// oneDNN's implementations named "ref" are plain loops, tens of times slower.
bool is_quick(const dnnl::primitive_desc_base& description) {
  return description && !std::string_view(description.impl_info_str()).starts_with("ref");
}

/// Describes the three primitives of a convolution. x and y stand in the layouts of the operations around; where oneDNN
/// knows nothing quick for those (AVX2 has no weight gradients for images of 2 x 2), a gradient's primitive may choose.
struct Descriptions {
  using Forward = dnnl::convolution_forward;
  using BackwardData = dnnl::convolution_backward_data;
  using BackwardWeights = dnnl::convolution_backward_weights;

  dnnl::engine engine;
  memory::desc x, weight, weight_gradient, y;
  memory::dims strides, padding;

  Forward::primitive_desc forward(algorithm a) const {
    return describe_forward<Forward>(engine, dnnl::prop_kind::forward_training, a, x, weight, y, strides, padding,
                                     padding);
  }
  BackwardData::primitive_desc backward_data(algorithm a) const { return backward<BackwardData>(a, weight); }
  BackwardWeights::primitive_desc backward_weights(algorithm a) const {
    return backward<BackwardWeights>(a, weight_gradient);
  }

 private:
  template <typename Primitive>
  typename Primitive::primitive_desc backward(algorithm a, const memory::desc& w) const {
    const auto describe = [&](const memory::desc& x_there, const memory::desc& y_there) {
      return describe_backward<Primitive>(engine, forward(algorithm::convolution_direct), a, x_there, w, y_there,
                                          strides, padding, padding);
    };
    const auto as_they_stand = describe(x, y);
    if (!as_they_stand || is_quick(as_they_stand)) return as_they_stand;
    const auto free = describe(in_any_layout(x), in_any_layout(y));
    return is_quick(free) ? free : as_they_stand;
  }
};

/// x is as the operation before left it; oneDNN chooses the layouts of the weight and, in fp32, of y.
Descriptions describe_convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec) {
  const auto weight = [&](Type type) {
    memory::dims dims = window(setup.type, spec.kernel, 1);
    dims.insert(dims.begin(), {spec.out_channels, x.shape.c});
    return memory::desc(dims, type, memory::format_tag::any);
  };
  Descriptions d{setup.engine,
                 x.data.get_desc(),
                 weight(setup.type),
                 weight(Type::f32),
                 any_activation_layout(spec.output(x.shape), setup.type),
                 window(setup.type, spec.stride, 1),
                 window(setup.type, spec.padding, 0)};
  d.y = d.forward(algorithm::convolution_direct).dst_desc();
  return d;
}

/// Chooses a pass's algorithm of those that `describe` knows. A trial runs on memory of its own, all zero.
template <typename Primitive>
Choice choose(const Setup& setup, const ConvolutionCase& of,
              const std::function<typename Primitive::primitive_desc(algorithm)>& describe) {
  return choose_algorithm(setup, of, [&](algorithm a) -> Trial {
    const auto d = describe(a);
    if (!d) return {};
    return [&setup, d, primitive = Primitive(d), memories = Steps::Arguments{}]() mutable {
      if (memories.empty())
        for (const int name : {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS,
                               DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD}) {
          const memory::desc layout = d.query_md(dnnl::query::exec_arg_md, name);
          if (layout.get_size() == 0) continue;  // not an argument of this pass
          memory m(layout, setup.engine);
          std::memset(m.get_data_handle(), 0, layout.get_size());
          memories.insert({name, m});
        }
      primitive.execute(setup.stream, memories);
      setup.stream.wait();
    };
  });
}

class Convolution : public Operation {
 public:
  Convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec, const ParameterView& weight)
      : Operation(setup), descriptions_(describe_convolution(setup, x, spec)) {
    const int side = 1 - x.gradient_side;
    output_ = {spec.output(x.shape), setup.plan.own(descriptions_.y), setup.plan.gradient(descriptions_.y, side), side};
    name_ = fmt::format("convolution {} -> {}", to_string(x.shape), to_string(output_.shape));
    build_forward(setup, x, spec, weight);
    build_backward_weights(setup, x, spec, weight);
    if (x.gradient) build_backward_data(setup, x, spec, weight);
  }

 private:
  std::string line(Pass pass, const Choice& choice) const {
    return fmt::format("{} {}, {} ({})", name_, to_string(pass), to_string(choice.algorithm), choice.why);
  }

  /// The weight in the layout that a primitive wants.
  memory weight_for(Steps& steps, const Setup& setup, const ParameterView& view, const memory::desc& wanted) {
    const memory weight = setup.plan.in_buffer(setup.memory.parameters, view.offset, weight_layout(view, setup.type));
    return steps.in_layout(name_ + " weights", setup, weight, wanted);
  }

  void build_forward(const Setup& setup, const Value& x, const ConvolutionSpec& spec, const ParameterView& view) {
    const Choice choice = choose<dnnl::convolution_forward>(setup, {x.shape, spec, Pass::forward},
                                                            [&](algorithm a) { return descriptions_.forward(a); });
    setup.plan.begin_pass();
    const auto d = descriptions_.forward(choice.algorithm);
    const memory weight = weight_for(forward_, setup, view, d.weights_desc());
    forward_.add(line(Pass::forward, choice), setup, d, dnnl::convolution_forward(d),
                 {{DNNL_ARG_SRC, x.data}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, output_.data}});
  }

  void build_backward_weights(const Setup& setup, const Value& x, const ConvolutionSpec& spec,
                              const ParameterView& view) {
    const Choice choice = choose<dnnl::convolution_backward_weights>(
        setup, {x.shape, spec, Pass::backward_weights}, [&](algorithm a) { return descriptions_.backward_weights(a); });
    setup.plan.begin_pass();
    const auto d = descriptions_.backward_weights(choice.algorithm);
    const memory gradient = setup.plan.in_buffer(setup.memory.gradients, view.offset, weight_layout(view, setup.type));
    const bool same = d.diff_weights_desc() == gradient.get_desc();
    const memory computed = same ? gradient : setup.plan.scratch(d.diff_weights_desc());
    const memory input = backward_.in_layout(name_ + " input", setup, x.data, d.src_desc());
    const memory dy = backward_.in_layout(name_ + " output's gradient", setup, output_.gradient, d.diff_dst_desc());
    backward_.add(line(Pass::backward_weights, choice), setup, d, dnnl::convolution_backward_weights(d),
                  {{DNNL_ARG_SRC, input}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, computed}});
    if (!same) backward_.add_reorder(name_ + " weight gradients", setup, computed, gradient);
  }

  void build_backward_data(const Setup& setup, const Value& x, const ConvolutionSpec& spec, const ParameterView& view) {
    const Choice choice = choose<dnnl::convolution_backward_data>(
        setup, {x.shape, spec, Pass::backward_data}, [&](algorithm a) { return descriptions_.backward_data(a); });
    setup.plan.begin_pass();
    const auto d = descriptions_.backward_data(choice.algorithm);
    const memory weight = weight_for(backward_, setup, view, d.weights_desc());
    const memory dy = backward_.in_layout(name_ + " output's gradient", setup, output_.gradient, d.diff_dst_desc());
    const bool same = d.diff_src_desc() == x.gradient.get_desc();
    const memory dx = same ? x.gradient : setup.plan.scratch(d.diff_src_desc());
    backward_.add(line(Pass::backward_data, choice), setup, d, dnnl::convolution_backward_data(d),
                  {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, dx}});
    if (!same) backward_.add_reorder(name_ + " input's gradient", setup, dx, x.gradient);
  }

  Descriptions descriptions_;
  std::string name_;
};

}  // namespace

OperationPtr new_convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec,
                             const ParameterView& weight) {
  return std::make_unique<Convolution>(setup, x, spec, weight);
}

}  // namespace odori::cpu
