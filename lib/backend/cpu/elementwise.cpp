// SPDX-License-Identifier: Apache-2.0
// Element-wise operations. All but gelu work in place: y takes the place of x, and its gradient
// that of y.
#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "errors/error.h"
#include "numbers/bf16.h"

namespace odori::cpu {

// y = max(x, 0): the gradient passes where y is positive.

namespace {

float number(float x) { return x; }
float number(std::uint16_t x) { return Bf16::to_float(x); }

ODORI_SIMD_CLONES void cut_negative(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = number(x[i]) < 0.0f ? 0 : x[i];
}
ODORI_SIMD_CLONES void cut_negative(std::uint16_t* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = number(x[i]) < 0.0f ? 0 : x[i];
}

ODORI_SIMD_CLONES void cut_gradient(const float* __restrict y, float* __restrict g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) g[i] = number(y[i]) > 0.0f ? g[i] : 0;
}
ODORI_SIMD_CLONES void cut_gradient(const std::uint16_t* __restrict y, std::uint16_t* __restrict g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) g[i] = number(y[i]) > 0.0f ? g[i] : 0;
}

template <typename Number>
class Relu : public Operation {
 public:
  Relu(const Setup& setup, const Value& x) : Operation(setup) { output_ = x; }

  void forward(Mode, const RandomKey&) override {
    auto* x = static_cast<Number*>(output_.data.get_data_handle());
    parallel(size(), vector_grain, [&](Range part) { cut_negative(x + part.begin, part.size()); });
  }
  void backward() override {
    if (!output_.gradient) return;
    const auto* y = static_cast<const Number*>(output_.data.get_data_handle());
    auto* g = static_cast<Number*>(output_.gradient.get_data_handle());
    parallel(size(), vector_grain, [&](Range part) { cut_gradient(y + part.begin, g + part.begin, part.size()); });
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("relu " + to_string(output_.shape) + " forward and backward: vector loops, in place");
  }

 private:
  std::size_t size() const { return output_.data.get_desc().get_size() / sizeof(Number); }
};

}  // namespace

OperationPtr new_relu(const Setup& setup, const Value& x) {
  if (setup.type == Type::f32) return std::make_unique<Relu<float>>(setup, x);
  return std::make_unique<Relu<std::uint16_t>>(setup, x);
}

// y = x * P(Z <= x). x stays, since its gradient needs it; the gradient of x takes the place of that of y.

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

// y[n, c, i, j] = x[n, c, i, j] + bias[c]; the bias's gradient is the sum of y's over n, i and j.

namespace {

class Bias : public Operation {
 public:
  Bias(const Setup& setup, const Value& x, const ParameterView& bias) : Operation(setup) {
    MemoryPlan& plan = setup.plan;
    const dnnl::memory::desc layout = x.data.get_desc();
    output_ = x;
    if (!x.gradient) output_.gradient = plan.gradient(layout, x.gradient_side);
    // As many dimensions as the activation has, each of size 1 but for the channels.
    dnnl::memory::dims sizes_of_bias(sizes(layout).size(), 1);
    sizes_of_bias[1] = x.shape.c;
    const auto tag = sizes_of_bias.size() == 4 ? dnnl::memory::format_tag::nchw : dnnl::memory::format_tag::ncdhw;
    const dnnl::memory::desc vector(sizes_of_bias, Type::f32, tag);
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

// y = scale * x. Smoothed labels change the loss of an example by smoothing * (y[label] - mean of y), and so the
// gradient of y by smoothing * ([c is the label] - 1 / C) / N.

namespace {

struct Single {
  using Stored = float;
  static float from(float x) { return x; }
  static float to_float(float x) { return x; }
};
struct Half : Bf16 {
  using Stored = std::uint16_t;
};

template <typename Format>
class Logits : public Operation {
 public:
  Logits(const Setup& setup, const Value& x, const LogitsSpec& spec)
      : Operation(setup), spec_(spec), labels_(setup.labels) {
    output_ = x;
  }

  void forward(Mode, const RandomKey&) override {
    auto* x = static_cast<typename Format::Stored*>(output_.data.get_data_handle());
    for (std::size_t i = 0; i < output_.shape.size(); ++i) x[i] = Format::from(Format::to_float(x[i]) * spec_.scale);
  }
  void backward() override {
    auto* g = static_cast<typename Format::Stored*>(output_.gradient.get_data_handle());
    const int classes = output_.shape.c;
    const float smoothing = spec_.smoothing / static_cast<float>(output_.shape.n);
    for (int n = 0; n < output_.shape.n; ++n, g += classes)
      for (int c = 0; c < classes; ++c) {
        const float label = c == labels_.label[static_cast<std::size_t>(n)] ? 1.0f : 0.0f;
        const float change = smoothing * (label - 1.0f / static_cast<float>(classes));
        g[c] = Format::from(spec_.scale * (Format::to_float(g[c]) + change));
      }
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("logits " + to_string(output_.shape) + " forward and backward: loops, in place");
  }

 private:
  LogitsSpec spec_;
  const Labels& labels_;
};

}  // namespace

OperationPtr new_logits(const Setup& setup, const Value& x, const LogitsSpec& spec) {
  require(x.shape.h * x.shape.w == 1 && x.gradient,
          "Logits are one number a class and example, but here is {}. Put a linear layer before them.",
          to_string(x.shape));
  if (setup.type == Type::f32) return std::make_unique<Logits<Single>>(setup, x, spec);
  return std::make_unique<Logits<Half>>(setup, x, spec);
}

}  // namespace odori::cpu
