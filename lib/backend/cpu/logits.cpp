// SPDX-License-Identifier: Apache-2.0
// y = scale * x, in place. Smoothed labels change the loss of an example by smoothing * (y[label] - mean of y), and so
// the gradient of y by smoothing * ([c is the label] - 1 / C) / N.
#include "backend/cpu/operation.h"
#include "errors/error.h"
#include "numbers/bf16.h"

namespace odori::cpu {
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
