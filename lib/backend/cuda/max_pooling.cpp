// SPDX-License-Identifier: Apache-2.0
// y[n, i, j, c] = max over k, l of x[n, i * stride + k, j * stride + l, c]. The gradient goes to where the maximum was.
#include "backend/cuda/kernels/max_pooling.h"

#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {

OperationPtr new_max_pooling(const Setup& setup, const Value& x, const PoolingSpec& spec) {
  require(spec.kernel <= kernels::max_pooling_largest_kernel,
          "On GPUs max pooling takes windows of at most {0}x{0}, not {1}x{1}.", kernels::max_pooling_largest_kernel,
          spec.kernel);
  Value y{spec.output(x.shape)};
  y.data = setup.plan.own(setup.bytes(y.shape));
  Place where;
  if (x.gradient) {
    where = setup.plan.own(y.shape.size());
    y.gradient_side = 1 - x.gradient_side;
    y.gradient = setup.plan.gradient(setup.bytes(y.shape), y.gradient_side);
  }
  const auto forward = [=, &setup](Mode) {
    kernels::max_pooling(setup.stream(), setup.storage, x.data.data(), x.shape, y.data.data(), y.shape, spec,
                         static_cast<std::uint8_t*>(where.data()));
  };
  const auto backward = [=, &setup] {
    if (!x.gradient) return;
    kernels::max_pooling_backward(setup.stream(), setup.storage, y.gradient.data(), y.shape,
                                  static_cast<const std::uint8_t*>(where.data()), x.gradient.data(), x.shape, spec);
  };
  return of_kernels(y, "max pooling " + to_string(x.shape) + " ->", "", forward, backward);
}

}  // namespace odori::cuda
