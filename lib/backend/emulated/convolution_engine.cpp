// SPDX-License-Identifier: Apache-2.0
// Implements the CUDA backend's convolution engine without cuDNN: plain loops, offered as two plans. One of the plans
// needs a workspace. A caller that accepts more than two plans also gets one that always fails, first in the list.
#include "backend/cuda/convolution_engine.h"

#include <algorithm>

#include "backend/cpu/simd.h"
#include "backend/emulated/elements.h"
#include "backend/emulated/machine.h"
#include "backend/emulated/stream.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Calls tap(y, x, w) for every pixel of y, pixel of x and tap of the kernel that belong together: the offsets of the
/// pixels' first channels, and the index of the tap.
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

/// Rows of elements; `stride` elements lie between the starts of two rows.
template <typename Element>
struct Rows {
  Element* data;
  std::size_t stride;
};

/// Adds factors[i] * from[i] to to[i], for rows of n elements. Most of the time of an emulated training run is spent
/// here.
ODORI_SIMD_CLONES void add(const float* factors, std::size_t rows, Rows<const float> from, Rows<float> to,
                           std::size_t n) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const a = from.data + i * from.stride;
    float* const __restrict b = to.data + i * to.stride;
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
      emulator::fatal("the workspace of a convolution is not inside an allocation.");
    const auto error = emulator::queue_launch(stream_, [a, plan = *this] { plan.compute(a); });
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
      emulator::fatal("a tensor of a convolution is not inside an allocation.");
    if (reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
      emulator::fatal("a tensor of a convolution is not aligned to 16 bytes.");
  }

  void compute(const ConvolutionArguments& a) const {
    const bool tf32 = case_.precision == Precision::tf32;
    const auto first = emulator::read_elements(a.first, bf16(), this->first().size(), tf32);
    const auto second = emulator::read_elements(a.second, bf16(), this->second().size(), tf32);
    for (const auto* input : {&first, &second})
      if (std::all_of(input->begin(), input->end(), [](float x) { return x == 0; }))
        ++emulator::state().counts.of_zeros;
    std::fill_n(static_cast<std::byte*>(a.workspace), workspace_bytes_, std::byte{0xff});  // NaN
    std::vector<float> result(this->result().size());
    if (case_.pass == Pass::forward)
      forward(first, second, result);
    else if (case_.pass == Pass::backward_data)
      backward_data(first, second, result);
    else
      backward_weights(first, second, result);
    emulator::write_elements(result, a.result, bf16());
  }
  std::size_t in() const { return index(case_.x.c); }
  std::size_t out() const { return index(case_.y.c); }
  std::size_t taps() const { return index(case_.spec.kernel * case_.spec.kernel); }
  /// Transposes the weight to kernel x kernel x I x O, so that the inner loop runs along it.
  void forward(const std::vector<float>& x, const std::vector<float>& w, std::vector<float>& y) const {
    std::vector<float> transposed(w.size());
    for (std::size_t o = 0; o < out(); ++o)
      for (std::size_t i = 0; i < taps() * in(); ++i) transposed[i * out() + o] = w[o * taps() * in() + i];
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&x[at_x], in(), {&transposed[tap * in() * out()], out()}, {&y[at_y], 0}, out());
    });
  }
  void backward_data(const std::vector<float>& gy, const std::vector<float>& w, std::vector<float>& gx) const {
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&gy[at_y], out(), {&w[tap * in()], taps() * in()}, {&gx[at_x], 0}, in());
    });
  }
  void backward_weights(const std::vector<float>& x, const std::vector<float>& gy, std::vector<float>& gw) const {
    for_each_tap(case_, [&](std::size_t at_y, std::size_t at_x, std::size_t tap) {
      add(&gy[at_y], out(), {&x[at_x], 0}, {&gw[tap * in()], taps() * in()}, in());
    });
  }

  cudaStream_t stream_;
  ConvolutionCase case_;
  std::size_t workspace_bytes_;
};

class FailingPlan : public ConvolutionPlan {
 public:
  std::string name() const override { return "bad"; }
  std::size_t workspace_bytes() const override { return 0; }
  void run(const ConvolutionArguments&) override { fail("This plan of the emulated convolution always fails."); }
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
    if (most > 2) plans.insert(plans.begin(), std::make_unique<FailingPlan>());
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
