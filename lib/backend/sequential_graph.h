// SPDX-License-Identifier: Apache-2.0
// The base class of the graphs of all fast backends: a sequence of operations with their outputs. The backend creates
// the operations, and converts tensors from and to plain order.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/graph.h"
#include "errors/error.h"

namespace odori {

/// `Operation` has backward(), describe() and output(), which returns a `Value`: shape, data, gradient. `Setup` has the
/// memory `plan`. The backend declares new_relu(), new_linear(), ... in the namespace of Setup.
template <typename Setup, typename Operation, typename Value>
class SequentialGraph : public Graph {
 public:
  Tensor convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) override {
    return add(x, {weight}, [&](const Value& input) { return new_convolution(setup(), input, spec, weight); });
  }
  Tensor batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                             const BatchNormalizationParameters& parameters) override {
    return add(x, {parameters.gamma, parameters.beta},
               [&](const Value& input) { return new_batch_normalization(setup(), input, spec, parameters); });
  }
  Tensor relu(Tensor x) override {
    return add(x, {}, [&](const Value& input) { return new_relu(setup(), input); });
  }
  Tensor gelu(Tensor x) override {
    return add(x, {}, [&](const Value& input) { return new_gelu(setup(), input); });
  }
  Tensor bias(Tensor x, const ParameterView& bias) override {
    return add(x, {bias}, [&](const Value& input) { return new_bias(setup(), input, bias); });
  }
  Tensor max_pooling(Tensor x, const PoolingSpec& spec) override {
    return add(x, {}, [&](const Value& input) { return new_max_pooling(setup(), input, spec); });
  }
  Tensor dropout(Tensor x, float ratio) override {
    return add(x, {}, [&](const Value& input) { return new_dropout(setup(), input, ratio, dropouts_++); });
  }
  Tensor linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) override {
    return add(x, trained(weight, bias),
               [&](const Value& input) { return new_linear(setup(), input, out, weight, bias); });
  }
  Tensor logits(Tensor x, const LogitsSpec& spec) override {
    return add(x, {}, [&](const Value& input) { return new_logits(setup(), input, spec); });
  }
  void softmax_cross_entropy(Tensor x) override {
    add(x, {}, [&](const Value& input) { return new_softmax_cross_entropy(setup(), input); });
  }

  std::vector<float> read_value(Tensor tensor) override { return read(value(tensor).data, tensor.shape); }
  std::vector<float> read_gradient(Tensor tensor) override { return read(gradient(tensor), tensor.shape); }
  void write_value(Tensor tensor, std::span<const float> plain) override {
    write(value(tensor).data, tensor.shape, plain);
  }
  void write_gradient(Tensor tensor, std::span<const float> plain) override {
    write(gradient(tensor), tensor.shape, plain);
  }
  std::vector<std::string> describe() const override {
    std::vector<std::string> lines;
    for (const OperationPtr& operation : operations_) operation->describe(lines);
    return lines;
  }
  std::size_t memory_bytes() const override { return setup().plan.bytes(); }

 protected:
  using OperationPtr = std::unique_ptr<Operation>;
  using Memory = decltype(Value::data);  // false for none

  virtual const Setup& setup() const = 0;
  virtual std::vector<float> read(const Memory& from, const Shape& shape) = 0;
  virtual void write(const Memory& to, const Shape& shape, std::span<const float> plain) = 0;
  /// Calls `make`; a backend may turn the exceptions of its library into Errors.
  virtual OperationPtr made(const std::function<OperationPtr()>& make) { return make(); }

  Tensor add_input(Value input) {
    require(values_.empty(), "A graph has one input, and it comes first.");
    values_.push_back(std::move(input));
    return {0, values_.front().shape};
  }
  /// The input x of the next operation. Throws Error unless it is the last output.
  const Value& last(Tensor x) const {
    require(!finished_, "The graph is finished: operations can't be added any more.");
    require(x.index + 1 == static_cast<int>(values_.size()),
            "Operations stand in a row: this one has to take the last tensor, {}, but takes {}.", values_.size() - 1,
            x.index);
    return value(x);
  }
  void backward_operations(const OnGradientReady& on_gradient_ready) {
    for (std::size_t i = operations_.size(); i-- > 0;) {
      operations_[i]->backward();
      if (on_gradient_ready && gradients_[i].size() > 0) on_gradient_ready(gradients_[i]);
    }
  }

  std::vector<Value> values_;
  std::vector<OperationPtr> operations_;
  std::uint32_t dropouts_ = 0;
  bool finished_ = false;

 private:
  const Value& value(Tensor tensor) const {
    require(tensor.index >= 0 && tensor.index < static_cast<int>(values_.size()),
            "There is no tensor {} in this graph of {} tensors.", tensor.index, values_.size());
    return values_[static_cast<std::size_t>(tensor.index)];
  }
  const Memory& gradient(Tensor tensor) const {
    const Memory& memory = value(tensor).gradient;
    require(static_cast<bool>(memory), "Tensor {} has no gradient: nothing in the graph needs it.", tensor.index);
    return memory;
  }
  template <typename Make>
  Tensor add(Tensor x, const std::vector<ParameterView>& parameters, const Make& make) {
    operations_.push_back(made([&] { return make(last(x)); }));
    values_.push_back(operations_.back()->output());
    gradients_.push_back(range_of(parameters));
    return {static_cast<int>(values_.size()) - 1, values_.back().shape};
  }

  std::vector<Range> gradients_;  // of each operation
};

}  // namespace odori
