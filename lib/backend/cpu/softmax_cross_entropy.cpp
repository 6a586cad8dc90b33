// loss = mean over n of (log(sum over c of exp(x[n, c])) - x[n, label]); dx[n, c] = (softmax(x)[n, c] - [c = label]) /
// N.
#include <algorithm>
#include <cmath>

#include "backend/cpu/operation.h"
#include "core/error.h"

namespace odori::cpu {
namespace {

class SoftmaxCrossEntropy : public Operation {
 public:
  SoftmaxCrossEntropy(const Value& x, Labels& labels) : labels_(labels) {
    require(x.shape.h * x.shape.w == 1 && x.data.get_desc().get_size() == x.shape.size() * sizeof(float),
            "Softmax needs one number a class and example, but gets {}. Put a linear layer before it.",
            to_string(x.shape));
    output_ = x;
  }

  void forward(Mode, const RandomKey&) override {
    const int n_classes = output_.shape.c;
    const auto* x = static_cast<const float*>(output_.data.get_data_handle());
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
    const auto* x = static_cast<const float*>(output_.data.get_data_handle());
    auto* g = static_cast<float*>(output_.gradient.get_data_handle());
    const auto batch = static_cast<float>(output_.shape.n);
    for (int n = 0; n < output_.shape.n; ++n, x += n_classes, g += n_classes) {
      const float largest = *std::max_element(x, x + n_classes);
      float sum = 0;
      for (int c = 0; c < n_classes; ++c) sum += g[c] = std::exp(x[c] - largest);
      for (int c = 0; c < n_classes; ++c) g[c] /= sum * batch;
      g[labels_.label[static_cast<std::size_t>(n)]] -= 1.0f / batch;
    }
  }

  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("softmax cross entropy " + to_string(output_.shape) + " forward and backward: loops");
  }

 private:
  Labels& labels_;
};

}  // namespace

OperationPtr softmax_cross_entropy(const Setup&, const Value& x, Labels& labels) {
  return std::make_unique<SoftmaxCrossEntropy>(x, labels);
}

}  // namespace odori::cpu
