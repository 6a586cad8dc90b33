// SPDX-License-Identifier: Apache-2.0
// loss = mean over n of (log(sum over c of exp(x[n, c])) - x[n, label]); dx[n, c] = (softmax(x)[n, c] - [c = label]) /
// N.
#include <algorithm>
#include <cmath>

#include "backend/cpu/operation.h"
#include "errors/error.h"

namespace odori::cpu {
namespace {

class SoftmaxCrossEntropy : public Operation {
 public:
  SoftmaxCrossEntropy(const Setup& setup, const Value& x) : Operation(setup), labels_(setup.labels) {
    const dnnl::memory::desc plain = plain_layout(x.shape, setup.type);
    require(x.shape.h * x.shape.w == 1 && x.data.get_desc().get_size() == plain.get_size(),
            "Softmax needs one number a class and example, but gets {}. Put a linear layer before it.",
            to_string(x.shape));
    output_ = x;
    scores_ = x.data;
    gradient_ = x.gradient;
    if (setup.type == Type::f32) return;
    scores_ = setup.plan.own(plain_layout(x.shape));
    gradient_ = setup.plan.own(plain_layout(x.shape));
    setup.plan.begin_pass();
    forward_.add_reorder("scores", setup, setup.plan.alias(x.data, plain), scores_);
    setup.plan.begin_pass();
    backward_.add_reorder("gradients of scores", setup, gradient_, setup.plan.alias(x.gradient, plain));
  }

  void forward(Mode, const RandomKey&) override {
    forward_.run(stream_);
    const int n_classes = output_.shape.c;
    const auto* x = static_cast<const float*>(scores_.get_data_handle());
    for (std::size_t n = 0; n < labels_.size; ++n, x += n_classes) {
      if (!labels_.counted[n]) continue;
      const float* largest = std::max_element(x, x + n_classes);
      double sum = 0;
      for (int c = 0; c < n_classes; ++c) sum += std::exp(static_cast<double>(x[c] - *largest));
      labels_.metrics.loss_sum += std::log(sum) - static_cast<double>(x[labels_.label[n]] - *largest);
      labels_.metrics.correct += largest - x == labels_.label[n];
      ++labels_.metrics.samples;
    }
  }

  void backward() override {
    const int n_classes = output_.shape.c;
    const auto* x = static_cast<const float*>(scores_.get_data_handle());
    auto* g = static_cast<float*>(gradient_.get_data_handle());
    const auto batch = static_cast<float>(output_.shape.n);
    for (int n = 0; n < output_.shape.n; ++n, x += n_classes, g += n_classes) {
      const float largest = *std::max_element(x, x + n_classes);
      float sum = 0;
      for (int c = 0; c < n_classes; ++c) sum += g[c] = std::exp(x[c] - largest);
      for (int c = 0; c < n_classes; ++c) g[c] /= sum * batch;
      g[labels_.label[static_cast<std::size_t>(n)]] -= 1.0f / batch;
    }
    backward_.run(stream_);
  }

  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("softmax cross entropy " + to_string(output_.shape) + " forward and backward: loops");
  }

 private:
  Labels& labels_;
  dnnl::memory scores_, gradient_;  // in fp32
};

}  // namespace

OperationPtr new_softmax_cross_entropy(const Setup& setup, const Value& x) {
  return std::make_unique<SoftmaxCrossEntropy>(setup, x);
}

}  // namespace odori::cpu
