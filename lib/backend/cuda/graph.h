// SPDX-License-Identifier: Apache-2.0
// A graph on a GPU, with one memory plan for all operations, and CUDA graphs of its passes.
#pragma once

#include <map>
#include <vector>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/load.h"
#include "backend/cuda/operation.h"
#include "backend/cuda/training_step.h"
#include "backend/sequential_graph.h"

namespace odori::cuda {

class CudaGraph : public SequentialGraph<Setup, Operation, Value> {
 public:
  CudaGraph(CudaDevice& device, ModelMemory& memory, AlgorithmTable& algorithms);
  ~CudaGraph() override;

  Tensor input(const Shape& shape, bool needs_gradient) override;
  Tensor gelu(Tensor x) override;
  Tensor dropout(Tensor x, float ratio) override;
  Tensor linear(Tensor x, int out, const ParameterView& weight, const ParameterView* bias) override;
  void finish() override;

  void load(const Batch& batch, const RandomKey& key) override;
  void forward(Mode mode, const RandomKey& key) override;
  using Graph::backward;
  void backward(const OnGradientReady& on_gradient_ready) override;
  Metrics take_metrics() override;

  std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) override;
  void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) override;
  std::vector<std::string> describe() const override;

 private:
  void queue_forward(Mode mode);
  const Setup& setup() const override { return setup_; }
  /// The output of an operation that is fused into the one before: in the memory of x.
  Tensor alias(Tensor x);
  /// The shape of a parameter for conversion to channels-last: a linear layer's weight has its input's C, H and W.
  Shape stored_shape(const ParameterView& view) const;
  std::vector<float> read(const Place& from, const Shape& shape) override { return read(storage_, from.data(), shape); }
  void write(const Place& to, const Shape& shape, std::span<const float> plain) override {
    write(storage_, to.data(), shape, plain);
  }
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
  std::map<std::size_t, Shape> flattened_;  // linear layers: offset of the weight -> {out, C, H, W}
  CapturedGraph evaluate_;
  TrainingStep training_step_;
};

}  // namespace odori::cuda
