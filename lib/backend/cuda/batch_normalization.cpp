// SPDX-License-Identifier: Apache-2.0
// y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, per channel; a ReLU after it costs nothing more, and
// dropout after it no pass of its own.
// Source: S. Ioffe and C. Szegedy, 2015, "Batch Normalization", arXiv:1502.03167.
#include "backend/cuda/kernels/batch_normalization.h"

#include <fmt/core.h>

#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class BatchNormalization : public Operation {
 public:
  BatchNormalization(const Setup& setup, const Value& x, const BatchNormalizationSpec& spec,
                     const BatchNormalizationParameters& parameters)
      : setup_(setup), x_(x), spec_(spec), views_(parameters) {
    MemoryPlan& plan = setup.plan;
    const std::size_t bytes = setup.bytes(x.shape), channels = static_cast<std::size_t>(x.shape.c) * sizeof(float);
    // Backward works in place: the gradient of x takes the place of that of y. x itself is needed for it, and stays.
    const Place gradient = x.gradient ? x.gradient : plan.gradient(bytes, x.gradient_side);
    output_ = {x.shape, plan.own(bytes), gradient, x.gradient_side};
    mean_ = plan.own(channels);
    inverse_deviation_ = plan.own(channels);
    if (setup.device.has(GpuOptimization::last_block))
      counters_ = plan.own(kernels::batch_normalization_counters(rows(), x.shape.c) * sizeof(unsigned int));
    plan.begin_pass();
    scratch_ = plan.scratch(kernels::batch_normalization_scratch_bytes(rows(), x.shape.c));
  }

  void forward(Mode mode) override {
    float* mean = setup_.parameters.statistic(views_.mean);
    float* variance = setup_.parameters.statistic(views_.variance);
    if (mode == Mode::evaluate)
      kernels::batch_normalization_evaluate(setup_.stream(), arguments(), output_.data.data(), mean, variance);
    else
      kernels::batch_normalization_train(setup_.stream(), arguments(), output_.data.data(), mean, variance,
                                         scratch_.data());
  }
  void backward() override {
    kernels::batch_normalization_backward(setup_.stream(), arguments(), output_.gradient.data(), x_.gradient.data(),
                                          setup_.parameters.gradient(views_.gamma),
                                          setup_.parameters.gradient(views_.beta), scratch_.data());
  }
  bool fuse_dropout(float ratio, std::uint32_t layer) override {
    if (kept_ || gelu_ || !setup_.device.has(GpuOptimization::fused_dropout)) return false;
    kept_ = setup_.plan.own(kernels::kept_bytes(setup_.storage, rows(), x_.shape.c));
    ratio_ = ratio, layer_ = layer;
    return true;
  }
  bool fuse_gelu() override {
    if (kept_ || gelu_ || spec_.relu || !setup_.device.has(GpuOptimization::fused_gelu)) return false;
    gelu_ = true;
    return true;
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back(fmt::format("batch normalization{}{} {} forward and backward: {} kernels each, sums and use",
                                spec_.relu ? " + relu"
                                : gelu_    ? " + gelu"
                                           : "",
                                kept_ ? " + dropout" : "", to_string(x_.shape), counters_ ? "two" : "three"));
  }

 private:
  std::size_t rows() const { return x_.shape.size() / static_cast<std::size_t>(x_.shape.c); }
  kernels::BatchNormalization arguments() const {
    return {.storage = setup_.storage,
            .rows = rows(),
            .channels = x_.shape.c,
            .spec = spec_,
            .x = x_.data.data(),
            .gamma = setup_.parameters.value(views_.gamma),
            .beta = setup_.parameters.value(views_.beta),
            .mean = static_cast<float*>(mean_.data()),
            .inverse_deviation = static_cast<float*>(inverse_deviation_.data()),
            .counters = static_cast<unsigned int*>(counters_.data()),
            .gelu = gelu_,
            .dropout = {.shape = x_.shape,
                        .ratio = ratio_,
                        .layer = layer_,
                        .step = setup_.step_data(),
                        .kept = static_cast<std::uint8_t*>(kept_.data())}};
  }

  const Setup& setup_;
  Value x_;
  BatchNormalizationSpec spec_;
  BatchNormalizationParameters views_;
  Place mean_, inverse_deviation_, counters_, scratch_;
  bool gelu_ = false;
  Place kept_;  // with fused dropout
  float ratio_ = 0;
  std::uint32_t layer_ = 0;
};

}  // namespace

OperationPtr new_batch_normalization(const Setup& setup, const Value& x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters) {
  return std::make_unique<BatchNormalization>(setup, x, spec, parameters);
}

}  // namespace odori::cuda
