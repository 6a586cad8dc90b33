// SPDX-License-Identifier: Apache-2.0
// y[n, i, j, c] = max over k, l of x[n, i * stride + k, j * stride + l, c]. The gradient goes to where the maximum was.
#include "backend/cuda/kernels/max_pooling.h"

#include <fmt/core.h>

#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

class MaxPooling : public Operation {
 public:
  MaxPooling(const Setup& setup, const Value& x, const PoolingSpec& spec) : setup_(setup), x_(x), spec_(spec) {
    require(spec.kernel <= kernels::max_pooling_largest_kernel,
            "On GPUs max pooling takes windows of at most {0}x{0}, not {1}x{1}.", kernels::max_pooling_largest_kernel,
            spec.kernel);
    const auto side = [&](int n) { return (n - spec.kernel) / spec.stride + 1; };
    output_.shape = {x.shape.n, x.shape.c, side(x.shape.h), side(x.shape.w)};
    output_.data = setup.plan.own(setup.bytes(output_.shape));
    if (!x.gradient) return;
    where_ = setup.plan.own(output_.shape.size());
    output_.gradient_side = 1 - x.gradient_side;
    output_.gradient = setup.plan.gradient(setup.bytes(output_.shape), output_.gradient_side);
  }

  void forward(Mode) override {
    kernels::max_pooling(setup_.stream(), setup_.storage, x_.data.data(), x_.shape, output_.data.data(), output_.shape,
                         spec_, static_cast<std::uint8_t*>(where_.data()));
  }
  void backward() override {
    if (!x_.gradient) return;
    kernels::max_pooling_backward(setup_.stream(), setup_.storage, output_.gradient.data(), output_.shape,
                                  static_cast<const std::uint8_t*>(where_.data()), x_.gradient.data(), x_.shape, spec_);
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back(fmt::format("max pooling {} -> {} forward and backward: one kernel each", to_string(x_.shape),
                                to_string(output_.shape)));
  }

 private:
  const Setup& setup_;
  Value x_;
  PoolingSpec spec_;
  Place where_;
};

}  // namespace

OperationPtr max_pooling(const Setup& setup, const Value& x, const PoolingSpec& spec) {
  return std::make_unique<MaxPooling>(setup, x, spec);
}

}  // namespace odori::cuda
