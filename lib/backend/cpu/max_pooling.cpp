// SPDX-License-Identifier: Apache-2.0
// y[n, c, i, j] = max over k, l of x[n, c, i * stride + k, j * stride + l]. The gradient goes to where the maximum was.
#include <fmt/core.h>

#include <algorithm>

#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "numbers/bf16.h"

namespace odori::cpu {
namespace {

using dnnl::memory;

class MaxPooling : public Operation {
 public:
  MaxPooling(const Setup& setup, const Value& x, const PoolingSpec& spec) : Operation(setup) {
    output_.shape = spec.output(x.shape);
    const memory::dims kernels = window(setup.type, spec.kernel, 1), strides = window(setup.type, spec.stride, 1);
    const memory::desc from = x.data.get_desc();
    const auto forward =
        describe_max_pooling(setup.engine, from, any_activation_layout(output_.shape, setup.type), kernels, strides);
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
    const auto backward = describe_max_pooling_backward(setup.engine, forward, from, to, kernels, strides);
    setup.plan.begin_pass();
    backward_.add(
        name + " backward", setup, backward, dnnl::pooling_backward(backward),
        {{DNNL_ARG_DIFF_DST, output_.gradient}, {DNNL_ARG_DIFF_SRC, x.gradient}, {DNNL_ARG_WORKSPACE, where}});
  }
};

/// Where x is the larger: y becomes x, and `where` this number of the window.
ODORI_SIMD_CLONES void take_larger(const std::uint16_t* __restrict x, std::uint8_t number, std::uint16_t* __restrict y,
                                   std::uint8_t* __restrict where, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool larger = Bf16::to_float(x[i]) > Bf16::to_float(y[i]);
    y[i] = larger ? x[i] : y[i];
    where[i] = larger ? number : where[i];
  }
}

ODORI_SIMD_CLONES void give_back(const std::uint16_t* __restrict gy, const std::uint8_t* __restrict where,
                                 std::uint8_t number, std::uint16_t* __restrict gx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) gx[i] = where[i] == number ? gy[i] : 0;
}

/// bf16, where windows don't overlap: a pixel is N x C numbers in a row, so that both passes read and write each number
/// once. oneDNN's take several times as long.
class PixelwiseMaxPooling : public Operation {
 public:
  PixelwiseMaxPooling(const Setup& setup, const Value& x, const PoolingSpec& spec)
      : Operation(setup), x_(x), kernel_(spec.kernel) {
    output_.shape = spec.output(x.shape);
    const memory::desc layout = any_activation_layout(output_.shape, setup.type);
    output_.data = setup.plan.own(layout);
    where_ = setup.plan.own({{static_cast<memory::dim>(output_.shape.size())}, Type::u8, memory::format_tag::x});
    if (!x.gradient) return;
    output_.gradient_side = 1 - x.gradient_side;
    output_.gradient = setup.plan.gradient(layout, output_.gradient_side);
  }

  void forward(Mode, const RandomKey&) override {
    const auto* x = static_cast<const std::uint16_t*>(x_.data.get_data_handle());
    auto* y = static_cast<std::uint16_t*>(output_.data.get_data_handle());
    auto* where = static_cast<std::uint8_t*>(where_.get_data_handle());
    const std::size_t n = pixel();
    for_windows([&](std::size_t to, std::size_t from, std::uint8_t number) {
      if (number == 0) {
        std::copy_n(x + from, n, y + to);
        std::fill_n(where + to, n, std::uint8_t{0});
      } else {
        take_larger(x + from, number, y + to, where + to, n);
      }
    });
  }
  void backward() override {
    if (!x_.gradient) return;
    auto* gx = static_cast<std::uint16_t*>(x_.gradient.get_data_handle());
    const auto* gy = static_cast<const std::uint16_t*>(output_.gradient.get_data_handle());
    const auto* where = static_cast<const std::uint8_t*>(where_.get_data_handle());
    const bool all_in_windows = x_.shape.h % kernel_ == 0 && x_.shape.w % kernel_ == 0;
    if (!all_in_windows) std::fill_n(gx, x_.shape.size(), std::uint16_t{0});
    for_windows([&](std::size_t to, std::size_t from, std::uint8_t number) {
      give_back(gy + to, where + to, number, gx + from, pixel());
    });
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back(fmt::format("max pooling {} -> {} forward and backward: vector loops", to_string(x_.shape),
                                to_string(output_.shape)));
  }

 private:
  std::size_t pixel() const { return static_cast<std::size_t>(output_.shape.n) * output_.shape.c; }

  /// Calls work(where the output's pixel begins, where the input's does, its number in the window).
  template <typename Work>
  void for_windows(const Work& work) const {
    const auto k = static_cast<std::size_t>(kernel_), width = static_cast<std::size_t>(output_.shape.w);
    const std::size_t windows = static_cast<std::size_t>(output_.shape.h) * width;
    parallel(windows, 1, [&](Range part) {
      for (std::size_t i = part.begin; i < part.end; ++i)
        for (std::size_t number = 0; number < k * k; ++number) {
          const std::size_t row = i / width * k + number / k, column = i % width * k + number % k;
          work(i * pixel(), (row * static_cast<std::size_t>(x_.shape.w) + column) * pixel(),
               static_cast<std::uint8_t>(number));
        }
    });
  }

  Value x_;
  int kernel_;
  memory where_;
};

}  // namespace

OperationPtr new_max_pooling(const Setup& setup, const Value& x, const PoolingSpec& spec) {
  const bool disjoint = spec.stride == spec.kernel && spec.kernel <= 16;  // a number of the window has 8 bits
  if (setup.type != Type::f32 && disjoint) return std::make_unique<PixelwiseMaxPooling>(setup, x, spec);
  return std::make_unique<MaxPooling>(setup, x, spec);
}

}  // namespace odori::cpu
