// Stands for cuDNN: convolutions as plain loops, in two plans, one of which wants a workspace. Who asks for more gets
// one that can't be run.
#include "backend/cuda/convolution_engine.h"

#include <algorithm>

#include "backend/cpu/simd.h"
#include "backend/emulated/machine.h"
#include "backend/emulated/numbers.h"
#include "core/error.h"

namespace odori::cuda {
namespace {

using emulator::numbers;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Calls tap(y, x, w) for every pixel of y, pixel of x and tap of the kernel that belong together: numbers of them,
/// from the beginning of the pixel's channels.
template <typename Tap>
void for_each_tap(const ConvolutionCase& c, const Tap& tap) {
  for (int n = 0; n < c.y.n; ++n)
    for (int h = 0; h < c.y.h; ++h)
      for (int w = 0; w < c.y.w; ++w)
        for (int kh = 0; kh < c.spec.kernel; ++kh)
          for (int kw = 0; kw < c.spec.kernel; ++kw) {
            const int xh = h * c.spec.stride + kh - c.spec.padding, xw = w * c.spec.stride + kw - c.spec.padding;
            if (xh < 0 || xh >= c.x.h || xw < 0 || xw >= c.x.w) continue;
            tap(((index(n) * index(c.y.h) + index(h)) * index(c.y.w) + index(w)) * index(c.y.c),
                ((index(n) * index(c.x.h) + index(xh)) * index(c.x.w) + index(xw)) * index(c.x.c),
                index(kh * c.spec.kernel + kw));
          }
}

/// n numbers, a step further each.
template <typename Number>
struct Rows {
  Number* data;
  std::size_t step;
};

/// to[i] += factors[i] * from[i], rows of n numbers. Most of an emulated training's time goes here.
ODORI_SIMD_CLONES void add(const float* factors, std::size_t rows, Rows<const float> from, Rows<float> to,
                           std::size_t n) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const a = from.data + i * from.step;
    float* const __restrict b = to.data + i * to.step;
    for (std::size_t j = 0; j < n; ++j) b[j] += factors[i] * a[j];
  }
}

class Plan : public ConvolutionPlan {
 public:
  Plan(cudaStream_t stream, const ConvolutionCase& which, std::size_t workspace_bytes)
      : stream_(stream), case_(which), workspace_bytes_(workspace_bytes) {}

  std::string name() const override { return workspace_bytes_ > 0 ? "loops with a workspace" : "loops"; }
  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const ConvolutionArguments& a) override {
    check_memory(a.first, first());
    check_memory(a.second, second());
    check_memory(a.result, result());
    if (workspace_bytes_ > 0 && !emulator::find_allocation(a.workspace, workspace_bytes_))
      emulator::complain("a convolution's workspace isn't there.");
    const auto error = emulator::queue_launch(stream_, [c = case_, a, plan = *this](bool) { plan.compute(a); });
    require(error == cudaSuccess, "The emulated convolution failed: {}.", cudaGetErrorString(error));
  }

 private:
  bool bf16() const { return case_.precision == Precision::bf16; }
  Shape weight() const { return {case_.y.c, case_.x.c, case_.spec.kernel, case_.spec.kernel}; }
  Shape first() const { return case_.pass == Pass::backward_data ? case_.y : case_.x; }
  Shape second() const { return case_.pass == Pass::backward_weights ? case_.y : weight(); }
  Shape result() const {
    return case_.pass == Pass::forward ? case_.y : case_.pass == Pass::backward_data ? case_.x : weight();
  }
  void check_memory(const void* data, const Shape& shape) const {
    if (!emulator::find_allocation(data, shape.size() * (bf16() ? 2 : 4)))
      emulator::complain("a convolution reaches beyond memory of the GPU.");
    if (reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
      emulator::complain("a convolution's tensor isn't aligned to 16 bytes.");
  }

  void compute(const ConvolutionArguments& a) const {
    const bool tf32 = case_.precision == Precision::tf32;
    const auto one = numbers(a.first, bf16(), first().size(), tf32);
    const auto other = numbers(a.second, bf16(), second().size(), tf32);
    for (const auto* factor : {&one, &other})
      if (std::count(factor->begin(), factor->end(), 0.0f) == static_cast<std::ptrdiff_t>(factor->size()))
        ++emulator::state().counts.of_zeros;
    std::fill_n(static_cast<std::byte*>(a.workspace), workspace_bytes_, std::byte{0xff});
    std::vector<float> result(this->result().size());
    if (case_.pass == Pass::forward)
      forward(one, other, result);
    else if (case_.pass == Pass::backward_data)
      backward_data(one, other, result);
    else
      backward_weights(one, other, result);
    emulator::write_numbers(result, a.result, bf16());
  }
  /// With the weight as kernel x kernel x I x O, so that loops go along it.
  void forward(const std::vector<float>& x, const std::vector<float>& w, std::vector<float>& y) const {
    const std::size_t in = index(case_.x.c), out = index(case_.y.c),
                      taps = index(case_.spec.kernel * case_.spec.kernel);
    std::vector<float> turned(w.size());
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t i = 0; i < taps * in; ++i) turned[i * out + o] = w[o * taps * in + i];
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&x[at_x], in, {&turned[tap * in * out], out}, {&y[at_y], 0}, out);
    });
  }
  void backward_data(const std::vector<float>& gy, const std::vector<float>& w, std::vector<float>& gx) const {
    const std::size_t in = index(case_.x.c), out = index(case_.y.c),
                      taps = index(case_.spec.kernel * case_.spec.kernel);
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&gy[at_y], out, {&w[tap * in], taps * in}, {&gx[at_x], 0}, in);
    });
  }
  void backward_weights(const std::vector<float>& x, const std::vector<float>& gy, std::vector<float>& gw) const {
    const std::size_t in = index(case_.x.c), out = index(case_.y.c),
                      taps = index(case_.spec.kernel * case_.spec.kernel);
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&gy[at_y], out, {&x[at_x], 0}, {&gw[tap * in], taps * in}, in);
    });
  }

  cudaStream_t stream_;
  ConvolutionCase case_;
  std::size_t workspace_bytes_;
};

class BadPlan : public ConvolutionPlan {
 public:
  std::string name() const override { return "bad"; }
  std::size_t workspace_bytes() const override { return 0; }
  void run(const ConvolutionArguments&) override { fail("An emulated convolution can't be run."); }
};

class EmulatedEngine : public ConvolutionEngine {
 public:
  explicit EmulatedEngine(cudaStream_t stream) : stream_(stream) {}

  std::string version() const override { return "emulated cuDNN"; }

  std::vector<ConvolutionPlanPtr> plans(const ConvolutionCase& which, std::size_t workspace_limit,
                                        std::size_t most) override {
    const std::size_t workspace = std::max(which.x.size(), which.y.size());
    std::vector<ConvolutionPlanPtr> plans;
    if (workspace <= workspace_limit) plans.push_back(std::make_unique<Plan>(stream_, which, workspace));
    if (plans.size() < most) plans.push_back(std::make_unique<Plan>(stream_, which, 0));
    if (most > 2) plans.insert(plans.begin(), std::make_unique<BadPlan>());
    return plans;
  }
  ConvolutionPlanPtr plan(const ConvolutionCase& which, const std::string& name) override {
    for (ConvolutionPlanPtr& plan : plans(which, ~std::size_t{0}, 2))
      if (plan->name() == name) return std::move(plan);
    return nullptr;
  }

 private:
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<ConvolutionEngine> new_convolution_engine(cudaStream_t stream) {
  return std::make_unique<EmulatedEngine>(stream);
}

}  // namespace odori::cuda
