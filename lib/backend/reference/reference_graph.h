// SPDX-License-Identifier: Apache-2.0
// A Graph of the plain operations in this folder. Tests build the same network on a fast backend and on this one, in
// double, and compare.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "backend/reference/batch_normalization.h"
#include "backend/reference/convolution.h"
#include "backend/reference/elementwise.h"
#include "backend/reference/linear.h"
#include "backend/reference/load.h"
#include "backend/reference/max_pooling.h"
#include "backend/reference/softmax_cross_entropy.h"

namespace odori::reference {

/// A zeroed vector in host memory.
inline Buffer host_buffer(std::size_t n) {
  return {new float[n](), n, [](float* data) noexcept { delete[] data; }};
}

/// Computes in T. Parameters, gradients and statistics are floats in `memory`: host memory, in plain order.
template <typename T>
class ReferenceGraph : public Graph {
 public:
  explicit ReferenceGraph(ModelMemory& memory) : memory_(memory) {}

  Tensor input(const Shape& shape, bool) override { return add(shape, {}); }
  Tensor convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) override {
    const int in = x.index, out = in + 1;
    return add(spec.output(x.shape),
               {[=, this](Mode, const RandomKey&) {
                  values_[out] = reference::convolution(values_[in], spec, get(memory_.parameters, weight));
                },
                [=, this] {
                  auto g = convolution_backward(values_[in], spec, get(memory_.parameters, weight), gradients_[out]);
                  gradients_[in] = std::move(g.x);
                  put(g.weight.values, memory_.gradients, weight);
                },
                range_of(std::vector{weight})});
  }
  Tensor batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                             const BatchNormalizationParameters& p) override {
    const int in = x.index, out = in + 1;
    const auto forward = [=, this](Mode mode, const RandomKey&) {
      Statistics<T> statistics{get(memory_.statistics, p.mean).values, get(memory_.statistics, p.variance).values};
      if (mode == Mode::train) {
        const Statistics<T> batch = batch_statistics(values_[in]);
        update_running(statistics, batch, spec, x.shape.size() / x.shape.c);
        put(statistics.mean, memory_.statistics, p.mean);
        put(statistics.variance, memory_.statistics, p.variance);
        statistics = batch;
      }
      values_[out] = reference::batch_normalization(values_[in], spec, get(memory_.parameters, p.gamma),
                                                    get(memory_.parameters, p.beta), statistics);
    };
    const auto backward = [=, this] {
      auto g = batch_normalization_backward(values_[in], spec, get(memory_.parameters, p.gamma),
                                            batch_statistics(values_[in]), values_[out], gradients_[out]);
      gradients_[in] = std::move(g.x);
      put(g.gamma.values, memory_.gradients, p.gamma);
      put(g.beta.values, memory_.gradients, p.beta);
    };
    return add(x.shape, {forward, backward, range_of(std::vector{p.gamma, p.beta})});
  }
  Tensor relu(Tensor x) override {
    const int in = x.index, out = in + 1;
    return add(x.shape, {[=, this](Mode, const RandomKey&) { values_[out] = reference::relu(values_[in]); },
                         [=, this] { gradients_[in] = relu_backward(values_[out], gradients_[out]); }});
  }
  Tensor gelu(Tensor x) override {
    const int in = x.index, out = in + 1;
    return add(x.shape, {[=, this](Mode, const RandomKey&) { values_[out] = reference::gelu(values_[in]); },
                         [=, this] { gradients_[in] = gelu_backward(values_[in], gradients_[out]); }});
  }
  Tensor bias(Tensor x, const ParameterView& bias) override {
    const int in = x.index, out = in + 1;
    return add(x.shape, {[=, this](Mode, const RandomKey&) {
                           values_[out] = add_bias(values_[in], get(memory_.parameters, bias));
                         },
                         [=, this] {
                           gradients_[in] = gradients_[out];
                           put(bias_gradient(gradients_[out]).values, memory_.gradients, bias);
                         },
                         range_of(std::vector{bias})});
  }
  Tensor max_pooling(Tensor x, const PoolingSpec& spec) override {
    const int in = x.index, out = in + 1;
    return add(spec.output(x.shape),
               {[=, this](Mode, const RandomKey&) { values_[out] = reference::max_pooling(values_[in], spec); },
                [=, this] { gradients_[in] = max_pooling_backward(values_[in], spec, gradients_[out]); }});
  }
  Tensor dropout(Tensor x, float ratio) override {
    const int in = x.index, out = in + 1;
    const std::uint32_t layer = dropout_layers_++;
    const auto kept = std::make_shared<std::vector<bool>>();
    return add(x.shape, {[=, this](Mode mode, const RandomKey& key) {
                           *kept = dropout_mask(x.shape, ratio, key, layer);
                           values_[out] =
                               mode == Mode::train ? reference::dropout(values_[in], ratio, *kept) : values_[in];
                         },
                         [=, this] { gradients_[in] = reference::dropout(gradients_[out], ratio, *kept); }});
  }
  Tensor linear(Tensor x, int outputs, const ParameterView& weight, const ParameterView* bias) override {
    const int in = x.index, out = in + 1;
    const auto bias_view = bias ? std::optional(*bias) : std::nullopt;
    const auto forward = [=, this](Mode, const RandomKey&) {
      const Array<T> b = bias_view ? get(memory_.parameters, *bias_view) : Array<T>();
      values_[out] = reference::linear(values_[in], get(memory_.parameters, weight), bias_view ? &b : nullptr);
    };
    const auto backward = [=, this] {
      auto g = linear_backward(values_[in], get(memory_.parameters, weight), gradients_[out]);
      gradients_[in] = std::move(g.x);
      put(g.weight.values, memory_.gradients, weight);
      if (bias_view) put(g.bias.values, memory_.gradients, *bias_view);
    };
    return add({x.shape.n, outputs, 1, 1}, {forward, backward, range_of(trained(weight, bias))});
  }
  Tensor logits(Tensor x, const LogitsSpec& spec) override {
    const int in = x.index, out = in + 1;
    return add(x.shape, {[=, this](Mode, const RandomKey&) { values_[out] = reference::logits(values_[in], spec); },
                         [=, this] { gradients_[in] = logits_backward<T>(gradients_[out], spec, labels_); }});
  }
  void softmax_cross_entropy(Tensor x) override {
    const auto forward = [=, this](Mode, const RandomKey&) {
      auto result = reference::softmax_cross_entropy<T>(values_[x.index], labels_);
      for (std::size_t i = 0; i < counted_.size(); ++i)
        if (counted_[i]) metrics_ += {static_cast<double>(result.losses[i]), result.correct[i], 1};
      gradients_[x.index] = std::move(result.gradient);
    };
    operations_.push_back({forward, {}});
  }
  void finish() override {}

  void load(const Batch& batch, const RandomKey& key) override {
    Array<T>& input = values_.front();
    std::fill(input.values.begin(), input.values.end(), T(0));
    labels_.assign(input.shape.n, 0);
    counted_.clear();
    for (std::size_t i = 0; i < batch.examples.size(); ++i) {
      const Example& example = batch.examples[i];
      const auto image = reference::load<T>(
          example, batch.transform, augmentation(key, batch.transform, static_cast<std::uint32_t>(i), example.own));
      std::copy(image.values.begin(), image.values.end(), input.values.begin() + i * input.shape.features());
      labels_[i] = example.label;
      counted_.push_back(example.counted);
    }
  }
  void forward(Mode mode, const RandomKey& key) override {
    for (const Operation& operation : operations_)
      if (operation.forward) operation.forward(mode, key);
  }
  using Graph::backward;
  void backward(const OnGradientReady& on_gradient_ready) override {
    for (auto operation = operations_.rbegin(); operation != operations_.rend(); ++operation) {
      if (operation->backward) operation->backward();
      if (on_gradient_ready && operation->gradients.size() > 0) on_gradient_ready(operation->gradients);
    }
  }
  Metrics take_metrics() override { return std::exchange(metrics_, {}); }

  std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) override {
    return {from.data() + view.offset, from.data() + view.offset + view.size()};
  }
  void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) override {
    std::copy(plain.begin(), plain.end(), to.data() + view.offset);
  }
  std::vector<float> read_value(Tensor tensor) override { return floats(values_[tensor.index]); }
  std::vector<float> read_gradient(Tensor tensor) override { return floats(gradients_[tensor.index]); }
  void write_value(Tensor tensor, std::span<const float> plain) override {
    values_[tensor.index].values.assign(plain.begin(), plain.end());
  }
  void write_gradient(Tensor tensor, std::span<const float> plain) override {
    gradients_[tensor.index].values.assign(plain.begin(), plain.end());
  }
  std::vector<std::string> describe() const override { return {}; }
  std::size_t memory_bytes() const override { return 0; }

 private:
  struct Operation {
    std::function<void(Mode, const RandomKey&)> forward;
    std::function<void()> backward;
    Range gradients;
  };

  Tensor add(const Shape& output, Operation operation) {
    operations_.push_back(std::move(operation));
    values_.emplace_back(output);
    gradients_.emplace_back(output);
    return {static_cast<int>(values_.size()) - 1, output};
  }
  Array<T> get(const Buffer& from, const ParameterView& view) const {
    Array<T> array(view.shape);
    std::copy_n(from.data() + view.offset, view.size(), array.values.begin());
    return array;
  }
  static void put(const std::vector<T>& from, Buffer& to, const ParameterView& view) {
    std::copy(from.begin(), from.end(), to.data() + view.offset);
  }
  static std::vector<float> floats(const Array<T>& array) { return {array.values.begin(), array.values.end()}; }

  ModelMemory& memory_;
  std::vector<Operation> operations_;  // operation i writes value i
  std::vector<Array<T>> values_, gradients_;
  std::vector<int> labels_;
  std::vector<bool> counted_;
  std::uint32_t dropout_layers_ = 0;
  Metrics metrics_;
};

}  // namespace odori::reference
