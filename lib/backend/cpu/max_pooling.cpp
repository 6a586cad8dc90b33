// y[n, c, i, j] = max over k, l of x[n, c, i * stride + k, j * stride + l]. The gradient goes to where the maximum was.
#include <fmt/core.h>

#include "backend/cpu/layout.h"
#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

using dnnl::memory;

class MaxPooling : public Operation {
 public:
  MaxPooling(const Setup& setup, const Value& x, const PoolingSpec& spec) : stream_(setup.stream) {
    const auto side = [&](int n) { return (n - spec.kernel) / spec.stride + 1; };
    output_.shape = {x.shape.n, x.shape.c, side(x.shape.h), side(x.shape.w)};
    const memory::desc any{{output_.shape.n, output_.shape.c, output_.shape.h, output_.shape.w},
                           memory::data_type::f32,
                           memory::format_tag::any};
    const memory::desc from = x.data.get_desc();
    const auto forward = describe_max_pooling(setup.engine, from, any, spec.kernel, spec.stride);
    const memory::desc to = forward.dst_desc();
    output_.data = setup.plan.own(to);
    const memory where = setup.plan.own(forward.workspace_desc());
    const std::string name = fmt::format("max pooling {} -> {}", to_string(x.shape), to_string(output_.shape));

    setup.plan.begin_pass();
    forward_.add(name + " forward", setup, forward, dnnl::pooling_forward(forward),
                 {{DNNL_ARG_SRC, x.data}, {DNNL_ARG_DST, output_.data}, {DNNL_ARG_WORKSPACE, where}});
    if (!x.gradient) return;
    output_.gradient_side = 1 - x.gradient_side;
    output_.gradient = setup.plan.gradient(to, output_.gradient_side);
    const auto backward = describe_max_pooling_backward(setup.engine, forward, from, to, spec.kernel, spec.stride);
    setup.plan.begin_pass();
    backward_.add(
        name + " backward", setup, backward, dnnl::pooling_backward(backward),
        {{DNNL_ARG_DIFF_DST, output_.gradient}, {DNNL_ARG_DIFF_SRC, x.gradient}, {DNNL_ARG_WORKSPACE, where}});
  }

  void forward(Mode, const RandomKey&) override { forward_.run(stream_); }
  void backward() override { backward_.run(stream_); }
  void describe(std::vector<std::string>& lines) const override {
    forward_.describe(lines);
    backward_.describe(lines);
  }

 private:
  dnnl::stream& stream_;
  Steps forward_, backward_;
};

}  // namespace

OperationPtr max_pooling(const Setup& setup, const Value& x, const PoolingSpec& spec) {
  return std::make_unique<MaxPooling>(setup, x, spec);
}

}  // namespace odori::cpu
