// y = max(x, 0), in place: the gradient passes where y is positive.
#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"

namespace odori::cpu {
namespace {

ODORI_SIMD_CLONES void cut_negative(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] < 0.0f ? 0.0f : x[i];
}

ODORI_SIMD_CLONES void cut_gradient(const float* __restrict y, float* __restrict g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) g[i] = y[i] > 0.0f ? g[i] : 0.0f;
}

class Relu : public Operation {
 public:
  explicit Relu(const Value& x) { output_ = x; }

  void forward(Mode, const RandomKey&) override {
    auto* x = static_cast<float*>(output_.data.get_data_handle());
    parallel(size(), vector_grain, [&](Range part) { cut_negative(x + part.begin, part.size()); });
  }
  void backward() override {
    if (!output_.gradient) return;
    const auto* y = static_cast<const float*>(output_.data.get_data_handle());
    auto* g = static_cast<float*>(output_.gradient.get_data_handle());
    parallel(size(), vector_grain, [&](Range part) { cut_gradient(y + part.begin, g + part.begin, part.size()); });
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("relu " + to_string(output_.shape) + " forward and backward: vector loops, in place");
  }

 private:
  std::size_t size() const { return output_.data.get_desc().get_size() / sizeof(float); }
};

}  // namespace

OperationPtr relu(const Setup&, const Value& x) { return std::make_unique<Relu>(x); }

}  // namespace odori::cpu
