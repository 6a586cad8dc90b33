// SPDX-License-Identifier: Apache-2.0
// Implements the CUDA backend's convolution engine without cuDNN: plain loops, offered as two plans. One of the plans
// needs a workspace. A caller that accepts more than two plans also gets one that always fails, first in the list.
#include "backend/cuda/convolution_engine.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/simd.h"
#include "backend/emulated/elements.h"
#include "backend/emulated/machine.h"
#include "backend/emulated/stream.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Pixels of a row of y and of x that belong together by one tap of the kernel: the offsets of the first ones' first
/// channels, how many there are, and the index of the tap.
struct Pixels {
  std::size_t y, x, n, tap;
};

/// Calls of(pixels) for every row of y and every tap of the kernel that meets a pixel of x there.
template <typename Of>
void for_each_tap(const ConvolutionCase& c, const Of& of) {
  const int side = c.spec.kernel, stride = c.spec.stride, padding = c.spec.padding;
  for (int n = 0; n < c.y.n; ++n)
    for (int h = 0; h < c.y.h; ++h)
      for (int kh = 0; kh < side; ++kh)
        for (int kw = 0; kw < side; ++kw) {
          const int xh = h * stride + kh - padding;
          int begin = 0, end = c.y.w;
          while (begin < end && begin * stride + kw < padding) ++begin;
          while (begin < end && (end - 1) * stride + kw - padding >= c.x.w) --end;
          if (xh < 0 || xh >= c.x.h || begin == end) continue;
          const int xw = begin * stride + kw - padding;
          of(Pixels{((index(n) * index(c.y.h) + index(h)) * index(c.y.w) + index(begin)) * index(c.y.c),
                    ((index(n) * index(c.x.h) + index(xh)) * index(c.x.w) + index(xw)) * index(c.x.c),
                    index(end - begin), index(kh * side + kw)});
        }
}

/// Elements, or rows of elements; `stride` elements lie between the starts of two of them.
struct Rows {
  const float* data;
  std::size_t stride;
};

using Vector __attribute__((vector_size(32))) = float;
constexpr std::size_t lanes = 8;

/// Adds factor i * row i to `to`, for n factors and rows, in this order: the first `vectors` vectors of a row.
template <std::size_t vectors>
[[gnu::always_inline]] inline void add_vectors(Rows factors, Rows rows, std::size_t n, float* to) {
  Vector sums[vectors], x;
#pragma GCC unroll 8
  for (std::size_t v = 0; v < vectors; ++v) std::memcpy(&sums[v], to + v * lanes, sizeof x);
  for (std::size_t i = 0; i < n; ++i) {
    const float factor = factors.data[i * factors.stride];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) {
      std::memcpy(&x, rows.data + i * rows.stride + v * lanes, sizeof x);
      sums[v] += factor * x;
    }
  }
#pragma GCC unroll 8
  for (std::size_t v = 0; v < vectors; ++v) std::memcpy(to + v * lanes, &sums[v], sizeof x);
}

/// Adds factor i * row i to `to`, for n factors and rows of `width` elements. Most of the time of an emulated training
/// run is spent here: sums stay in registers.
ODORI_SIMD_CLONES void add(Rows factors, Rows rows, std::size_t n, float* to, std::size_t width) {
  std::size_t j = 0;
  for (; j + 8 * lanes <= width; j += 8 * lanes) add_vectors<8>(factors, {rows.data + j, rows.stride}, n, to + j);
  for (; j + 2 * lanes <= width; j += 2 * lanes) add_vectors<2>(factors, {rows.data + j, rows.stride}, n, to + j);
  for (; j + lanes <= width; j += lanes) add_vectors<1>(factors, {rows.data + j, rows.stride}, n, to + j);
  for (; j < width; ++j)
    for (std::size_t i = 0; i < n; ++i) to[j] += factors.data[i * factors.stride] * rows.data[i * rows.stride + j];
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
  std::size_t x_step() const { return index(case_.spec.stride) * in(); }
  /// The weight is O x kernel x kernel x I. Forward and backward_weights have it as kernel x kernel x I x O, so that
  /// the inner loop runs along O.
  void forward(const std::vector<float>& x, const std::vector<float>& w, std::vector<float>& y) const {
    std::vector<float> transposed(w.size());
    for (std::size_t o = 0; o < out(); ++o)
      for (std::size_t i = 0; i < taps() * in(); ++i) transposed[i * out() + o] = w[o * taps() * in() + i];
    for_each_tap(case_, [&](const Pixels& p) {
      for (std::size_t i = 0; i < p.n; ++i)
        add({&x[p.x + i * x_step()], 1}, {&transposed[p.tap * in() * out()], out()}, in(), &y[p.y + i * out()], out());
    });
  }
  void backward_data(const std::vector<float>& gy, const std::vector<float>& w, std::vector<float>& gx) const {
    for_each_tap(case_, [&](const Pixels& p) {
      for (std::size_t i = 0; i < p.n; ++i)
        add({&gy[p.y + i * out()], 1}, {&w[p.tap * in()], taps() * in()}, out(), &gx[p.x + i * x_step()], in());
    });
  }
  void backward_weights(const std::vector<float>& x, const std::vector<float>& gy, std::vector<float>& gw) const {
    std::vector<float> transposed(gw.size());
    for_each_tap(case_, [&](const Pixels& p) {
      for (std::size_t i = 0; i < in(); ++i)
        add({&x[p.x + i], x_step()}, {&gy[p.y], out()}, p.n, &transposed[(p.tap * in() + i) * out()], out());
    });
    for (std::size_t o = 0; o < out(); ++o)
      for (std::size_t i = 0; i < taps() * in(); ++i) gw[o * taps() * in() + i] = transposed[i * out() + o];
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
