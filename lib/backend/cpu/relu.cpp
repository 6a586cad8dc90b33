// SPDX-License-Identifier: Apache-2.0
// y = max(x, 0), in place: the gradient passes where y is positive.
#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "numbers/bf16.h"

namespace odori::cpu {
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

}  // namespace odori::cpu
