// SPDX-License-Identifier: Apache-2.0
// A graph on a CPU device: its operations in order, and one plan of the memory of all.
#pragma once

#include <vector>

#include "backend/cpu/load.h"
#include "backend/cpu/memory_plan.h"
#include "backend/cpu/operation.h"
#include "backend/graph.h"
#include "backend/precision.h"

namespace odori::cpu {

class CpuGraph : public Graph {
 public:
  CpuGraph(int threads, Precision precision, ModelMemory& memory, AlgorithmTable& algorithms)
      : setup_{engine_, stream_,    threads, precision == Precision::bf16 ? Type::bf16 : Type::f32,
               memory,  algorithms, plan_} {}

  Tensor input(const Shape& shape, bool needs_gradient) override;
  Tensor convolution(Tensor x, const ConvolutionSpec& spec, const ParameterView& weight) override;
  Tensor batch_normalization(Tensor x, const BatchNormalizationSpec& spec,
                             const BatchNormalizationParameters& parameters) override;
  Tensor relu(Tensor x) override;
  Tensor gelu(Tensor x) override;
  Tensor bias(Tensor x, const ParameterView& bias) override;
  Tensor max_pooling(Tensor x, const PoolingSpec& spec) override;
  Tensor dropout(Tensor x, float ratio) override;
  Tensor linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) override;
  Tensor logits(Tensor x, const LogitsSpec& spec) override;
  void softmax_cross_entropy(Tensor x) override;
  void finish() override;

  void load(const Batch& batch, const RandomKey& key) override;
  void forward(Mode mode, const RandomKey& key) override;
  using Graph::backward;
  void backward(const OnGradientReady& on_gradient_ready) override;
  Metrics take_metrics() override;

  std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) override;
  void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) override;

  std::vector<float> read_value(Tensor tensor) override;
  std::vector<float> read_gradient(Tensor tensor) override;
  void write_value(Tensor tensor, std::span<const float> plain) override;
  void write_gradient(Tensor tensor, std::span<const float> plain) override;
  std::vector<std::string> describe() const override;
  std::size_t memory_bytes() const override { return plan_.bytes(); }

 private:
  const Value& value(Tensor tensor) const;
  const Value& last(Tensor x) const;
  template <typename Make>
  Tensor add(const Make& make, std::vector<ParameterView> parameters = {});  // of an OperationPtr
  void copy(const dnnl::memory& from, const dnnl::memory& to);
  std::vector<float> read(const dnnl::memory& from, const Shape& shape);
  void write(const dnnl::memory& to, const Shape& shape, std::span<const float> plain);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  MemoryPlan plan_{engine_};
  Setup setup_;
  std::vector<Value> values_;
  std::vector<OperationPtr> operations_;
  std::vector<Range> gradients_;  // of each operation
  std::uint32_t dropouts_ = 0;
  Loader loader_;
  dnnl::memory pixels_;  // what it fills: the input, or where that isn't fp32, what is copied to it
  Steps to_input_;
  Labels labels_;
  bool finished_ = false;
};

}  // namespace odori::cpu
