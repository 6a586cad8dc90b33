// SPDX-License-Identifier: Apache-2.0
// y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, per channel; a ReLU behind it costs nothing more.
// Source: S. Ioffe and C. Szegedy, 2015, "Batch Normalization", arXiv:1502.03167.
#include <fmt/core.h>

#include <algorithm>

#include "backend/cpu/operation.h"

namespace odori::cpu {
namespace {

using dnnl::memory;
using Flags = dnnl::normalization_flags;

class BatchNormalization : public Operation {
 public:
  BatchNormalization(const Setup& setup, const Value& x, const BatchNormalizationSpec& spec,
                     const BatchNormalizationParameters& parameters)
      : Operation(setup), decay_(spec.decay) {
    MemoryPlan& plan = setup.plan;
    const memory::desc layout = x.data.get_desc(), channels = vector_layout(x.shape.c);
    // Backward works in place: the gradient of x takes the place of that of y. x itself is needed for it, and stays.
    const memory gradient = x.gradient ? x.gradient : plan.gradient(layout, x.gradient_side);
    output_ = {x.shape, plan.own(layout), gradient, x.gradient_side};

    const memory gamma = plan.in_buffer(setup.memory.parameters, parameters.gamma.offset, channels);
    const memory beta = plan.in_buffer(setup.memory.parameters, parameters.beta.offset, channels);
    mean_ = plan.own(channels);
    variance_ = plan.own(channels);
    running_mean_ = plan.in_buffer(setup.memory.statistics, parameters.mean.offset, channels);
    running_variance_ = plan.in_buffer(setup.memory.statistics, parameters.variance.offset, channels);

    Flags flags = Flags::use_scale | Flags::use_shift;
    if (spec.relu) flags = flags | Flags::fuse_norm_relu;
    const std::string name = fmt::format("batch normalization{} {}", spec.relu ? " + relu" : "", to_string(x.shape));
    const auto train =
        describe_batch_normalization(setup.engine, dnnl::prop_kind::forward_training, layout, spec.epsilon, flags);
    const auto backward = describe_batch_normalization_backward(setup.engine, train, layout, spec.epsilon, flags);
    const auto evaluate = describe_batch_normalization(setup.engine, dnnl::prop_kind::forward_inference, layout,
                                                       spec.epsilon, flags | Flags::use_global_stats);
    const memory positive = plan.own(train.workspace_desc());  // where the ReLU lets the gradient through

    plan.begin_pass();
    forward_.add(name + " forward", setup, train, dnnl::batch_normalization_forward(train),
                 {{DNNL_ARG_SRC, x.data},
                  {DNNL_ARG_SCALE, gamma},
                  {DNNL_ARG_SHIFT, beta},
                  {DNNL_ARG_MEAN, mean_},
                  {DNNL_ARG_VARIANCE, variance_},
                  {DNNL_ARG_WORKSPACE, positive},
                  {DNNL_ARG_DST, output_.data}});
    plan.begin_pass();
    evaluate_.add(name + " evaluate", setup, evaluate, dnnl::batch_normalization_forward(evaluate),
                  {{DNNL_ARG_SRC, x.data},
                   {DNNL_ARG_SCALE, gamma},
                   {DNNL_ARG_SHIFT, beta},
                   {DNNL_ARG_MEAN, running_mean_},
                   {DNNL_ARG_VARIANCE, running_variance_},
                   {DNNL_ARG_DST, output_.data}});
    plan.begin_pass();
    Steps::Arguments arguments{
        {DNNL_ARG_SRC, x.data},
        {DNNL_ARG_SCALE, gamma},
        {DNNL_ARG_MEAN, mean_},
        {DNNL_ARG_VARIANCE, variance_},
        {DNNL_ARG_WORKSPACE, positive},
        {DNNL_ARG_DIFF_DST, output_.gradient},
        {DNNL_ARG_DIFF_SRC, gradient},
        {DNNL_ARG_DIFF_SCALE, plan.in_buffer(setup.memory.gradients, parameters.gamma.offset, channels)},
        {DNNL_ARG_DIFF_SHIFT, plan.in_buffer(setup.memory.gradients, parameters.beta.offset, channels)}};
    if (batch_normalization_backward_takes_shift) arguments.insert({DNNL_ARG_SHIFT, beta});
    backward_.add(name + " backward", setup, backward, dnnl::batch_normalization_backward(backward), arguments);
  }

  void forward(Mode mode, const RandomKey&) override {
    if (mode == Mode::evaluate) return evaluate_.run(stream_);
    forward_.run(stream_);
    // The variance of this batch is biased (divided by m); the running one is an estimate for all data (by m - 1).
    const float m = static_cast<float>(output_.shape.size()) / static_cast<float>(output_.shape.c);
    update_running(running_mean_, mean_, 1.0f);
    update_running(running_variance_, variance_, m / std::max(m - 1.0f, 1.0f));
  }
  void describe(std::vector<std::string>& lines) const override {
    Operation::describe(lines);
    evaluate_.describe(lines);
  }

 private:
  void update_running(const memory& running, const memory& batch, float correction) const {
    auto* r = static_cast<float*>(running.get_data_handle());
    const auto* b = static_cast<const float*>(batch.get_data_handle());
    for (int c = 0; c < output_.shape.c; ++c) r[c] = decay_ * r[c] + (1.0f - decay_) * correction * b[c];
  }

  float decay_;
  memory mean_, variance_, running_mean_, running_variance_;
  Steps evaluate_;
};

}  // namespace

OperationPtr new_batch_normalization(const Setup& setup, const Value& x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters) {
  return std::make_unique<BatchNormalization>(setup, x, spec, parameters);
}

}  // namespace odori::cpu
