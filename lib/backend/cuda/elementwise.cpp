// SPDX-License-Identifier: Apache-2.0
// Element-wise operations, with one kernel in each pass. All but gelu work in place: y takes
// the place of x, and its gradient that of y.
#include "backend/cuda/kernels/activation.h"
#include "backend/cuda/kernels/bias.h"
#include "backend/cuda/kernels/dropout.h"
#include "backend/cuda/kernels/logits.h"
#include "backend/cuda/operation.h"
#include "errors/error.h"

namespace odori::cuda {

// y = max(x, 0): the gradient passes where y is positive.
OperationPtr new_relu(const Setup& setup, const Value& x) {
  const auto forward = [&setup, x](Mode) {
    kernels::relu(setup.stream(), setup.storage, x.data.data(), x.data.data(), x.shape.size());
  };
  const auto backward = [&setup, x] {
    if (!x.gradient) return;
    void* g = x.gradient.data();
    kernels::relu_backward(setup.stream(), setup.storage, x.data.data(), g, g, x.shape.size());
  };
  return of_kernels(x, "relu", ", in place", forward, backward);
}

// y = x * P(Z <= x). x stays, since its gradient needs it; the gradient of x takes the place of that of y.
OperationPtr new_gelu(const Setup& setup, const Value& x) {
  const Value y{x.shape, setup.plan.own(setup.bytes(x.shape)), x.gradient, x.gradient_side};
  const auto forward = [&setup, x, y](Mode) {
    kernels::gelu(setup.stream(), setup.storage, x.data.data(), y.data.data(), x.shape.size());
  };
  const auto backward = [&setup, x] {
    if (!x.gradient) return;
    void* g = x.gradient.data();
    kernels::gelu_backward(setup.stream(), setup.storage, x.data.data(), g, g, x.shape.size());
  };
  return of_kernels(y, "gelu", "", forward, backward);
}

// y[n, i, j, c] = x[n, i, j, c] + bias[c]; the bias's gradient is the sum of y's over n, i and j.
OperationPtr new_bias(const Setup& setup, const Value& x, const ParameterView& bias) {
  Value y = x;
  if (!x.gradient) y.gradient = setup.plan.gradient(setup.bytes(x.shape), x.gradient_side);
  const int rows = x.shape.n * x.shape.h * x.shape.w, channels = x.shape.c;
  const Place workspace = setup.plan.own(kernels::bias_workspace_bytes(rows, channels));
  const auto forward = [=, &setup](Mode) {
    kernels::add_bias(setup.stream(), setup.storage, y.data.data(), setup.parameters.value(bias), rows, channels);
  };
  const auto backward = [=, &setup] {
    kernels::bias_gradient(setup.stream(), setup.storage, y.gradient.data(), setup.parameters.gradient(bias), rows,
                           channels, workspace.data());
  };
  return of_kernels(y, "bias", ", in place", forward, backward);
}

// Each element is dropped with probability `ratio`, the others are divided by 1 - ratio. Source: N. Srivastava et al.,
// 2014, "Dropout: a simple way to prevent neural networks from overfitting".
OperationPtr new_dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer) {
  const auto drop = [=, &setup, shape = x.shape](const Place& at) {
    kernels::dropout(setup.stream(), setup.storage, at.data(), at.data(), shape, ratio, layer, setup.step_data());
  };
  const auto forward = [=](Mode mode) {
    if (mode == Mode::train) drop(x.data);
  };
  const auto backward = [=] {
    if (x.gradient) drop(x.gradient);
  };
  return of_kernels(x, "dropout", ", in place", forward, backward);
}

// y = scale * x, and what smoothed labels change of the gradient (kernels/logits.h).
OperationPtr new_logits(const Setup& setup, const Value& x, const LogitsSpec& spec) {
  require(x.shape.h * x.shape.w == 1 && x.gradient,
          "Logits are one number a class and example, but here is {}. Put a linear layer before them.",
          to_string(x.shape));
  const auto forward = [=, &setup](Mode) {
    kernels::logits(setup.stream(), setup.storage, x.data.data(), spec, x.shape.n, x.shape.c);
  };
  const auto backward = [=, &setup] {
    kernels::logits_backward(setup.stream(), setup.storage, x.gradient.data(), spec, x.shape.n, x.shape.c,
                             setup.step_data());
  };
  return of_kernels(x, "logits", ", in place", forward, backward);
}

}  // namespace odori::cuda
