// SPDX-License-Identifier: Apache-2.0
// A graph on a CPU device, with one memory plan for all operations.
#pragma once

#include <vector>

#include "backend/cpu/load.h"
#include "backend/cpu/memory_plan.h"
#include "backend/cpu/operation.h"
#include "backend/precision.h"
#include "backend/sequential_graph.h"

namespace odori::cpu {

class CpuGraph : public SequentialGraph<Setup, Operation, Value> {
 public:
  CpuGraph(int threads, Precision precision, ModelMemory& memory, AlgorithmTable& algorithms)
      : setup_{engine_, stream_,    threads, precision == Precision::bf16 ? Type::bf16 : Type::f32,
               memory,  algorithms, plan_,   labels_} {}

  Tensor input(const Shape& shape, bool needs_gradient) override;
  void finish() override;

  void load(const Batch& batch, const RandomKey& key) override;
  void forward(Mode mode, const RandomKey& key) override;
  using Graph::backward;
  void backward(const OnGradientReady& on_gradient_ready) override;
  Metrics take_metrics() override;

  std::vector<float> read_parameter(const Buffer& from, const ParameterView& view) override;
  void write_parameter(Buffer& to, const ParameterView& view, std::span<const float> plain) override;

 private:
  const Setup& setup() const override { return setup_; }
  OperationPtr made(const std::function<OperationPtr()>& make) override;
  void copy(const dnnl::memory& from, const dnnl::memory& to);
  std::vector<float> read(const dnnl::memory& from, const Shape& shape) override;
  void write(const dnnl::memory& to, const Shape& shape, std::span<const float> plain) override;

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  MemoryPlan plan_{engine_};
  Setup setup_;
  Loader loader_;
  dnnl::memory pixels_;  // written by the loader: the input, or, unless that is fp32, a buffer that is copied to it
  Steps to_input_;
  Labels labels_;
};

}  // namespace odori::cpu
