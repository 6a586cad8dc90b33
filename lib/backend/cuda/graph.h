// SPDX-License-Identifier: Apache-2.0
// A graph on a GPU: its operations in order, one memory plan for all of them, and CUDA graphs of its passes.
#pragma once

#include <map>
#include <vector>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/load.h"
#include "backend/cuda/operation.h"
#include "backend/cuda/training_step.h"
#include "backend/graph.h"

namespace odori::cuda {

class CudaGraph : public Graph {
 public:
  CudaGraph(CudaDevice& device, ModelMemory& memory, AlgorithmTable& algorithms);
  ~CudaGraph() override;

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
  void queue_forward(Mode mode);
  void queue_backward(const OnGradientReady& on_gradient_ready);
  const Value& value(Tensor tensor) const;
  const Value& last(Tensor x) const;
  const Place& gradient(Tensor tensor) const;
  /// A tensor in the place of x, for an operation that the one before does as well.
  Tensor alias(Tensor x);
  Tensor add(OperationPtr operation, const std::vector<ParameterView>& parameters = {});
  /// The layout of a parameter in memory: a linear layer's weight is channels-last, as its input is.
  Shape stored_shape(const ParameterView& view) const;
  std::vector<float> read(Storage storage, const void* from, const Shape& shape);
  void write(Storage storage, void* to, const Shape& shape, std::span<const float> plain);

  CudaDevice& device_;
  ModelMemory& memory_;
  MemoryPlan plan_;
  Storage storage_;
  Parameters parameters_;
  Loader loader_;
  DeviceMemory metrics_;
  PinnedMemory taken_metrics_;
  Setup setup_;
  std::vector<Value> values_;
  std::vector<OperationPtr> operations_;
  std::vector<Range> gradients_;            // of each operation
  std::map<std::size_t, Shape> flattened_;  // linear layers: offset of the weight -> {out, C, H, W}
  std::uint32_t dropouts_ = 0;
  CapturedGraph evaluate_;
  TrainingStep training_step_;
  bool finished_ = false;
};

}  // namespace odori::cuda
