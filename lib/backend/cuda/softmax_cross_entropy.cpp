// SPDX-License-Identifier: Apache-2.0
// loss = mean over n of (log(sum over c of exp(x[n, c])) - x[n, label]); dx[n, c] = (softmax(x)[n, c] - [c = label]) /
// N.
#include "backend/cuda/kernels/softmax_cross_entropy.h"

#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {

OperationPtr new_softmax_cross_entropy(const Setup& setup, const Value& x) {
  require(x.shape.h * x.shape.w == 1,
          "Softmax needs one number a class and example, but gets {}. Put a linear layer before it.",
          to_string(x.shape));
  const auto forward = [&setup, x](Mode) {
    kernels::softmax_cross_entropy(setup.stream(), setup.storage, x.data.data(), x.shape.n, x.shape.c,
                                   setup.step_data(), reinterpret_cast<kernels::MetricsMemory*>(setup.metrics.get()),
                                   setup.device.has(GpuOptimization::parallel_metrics));
  };
  const auto backward = [&setup, x] {
    kernels::softmax_cross_entropy_backward(setup.stream(), setup.storage, x.data.data(), x.gradient.data(), x.shape.n,
                                            x.shape.c, setup.step_data());
  };
  return of_kernels(x, "softmax cross entropy", "", forward, backward);
}

}  // namespace odori::cuda
