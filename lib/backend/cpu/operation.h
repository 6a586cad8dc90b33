// SPDX-License-Identifier: Apache-2.0
// Operations of a graph on a CPU device: oneDNN primitives, created once, and their memory.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/cpu/layout.h"
#include "backend/cpu/memory_plan.h"
#include "backend/cpu/onednn.h"
#include "backend/graph.h"

namespace odori::cpu {

/// A tensor of the graph, in activation_layout(). `gradient` is empty (false) before the first parameter, where it is
/// not needed.
struct Value {
  Shape shape;
  dnnl::memory data, gradient;
  int gradient_side = 0;  // which of the plan's two gradient regions
};

/// The labels of the current batch, and the metrics.
struct Labels {
  std::vector<int> label;
  std::vector<bool> counted;  // false: not in the metrics
  std::size_t size = 0;       // examples in this batch; the rest of the batch is padding
  Metrics metrics;
};

/// Everything that operations are built from.
struct Setup {
  const dnnl::engine& engine;
  dnnl::stream& stream;
  int threads;
  Type type;  // of activations and their gradients; parameters and their gradients are fp32
  ModelMemory& memory;
  AlgorithmTable& algorithms;
  MemoryPlan& plan;
  Labels& labels;
};

/// Primitives that run one after another, each with its arguments.
class Steps {
 public:
  using Arguments = std::unordered_map<int, dnnl::memory>;

  /// Adds a primitive, with its own scratch memory within the pass.
  template <typename Description>
  void add(const std::string& name, const Setup& setup, const Description& description,
           const dnnl::primitive& primitive, Arguments arguments) {
    arguments.insert({DNNL_ARG_SCRATCHPAD, setup.plan.scratch(description.scratchpad_desc())});
    steps_.push_back({name + ": " + description.impl_info_str(), primitive, std::move(arguments)});
  }
  /// Adds a copy into another layout.
  void add_reorder(const std::string& name, const Setup& setup, const dnnl::memory& from, const dnnl::memory& to);
  /// Returns `from` if it has the wanted layout; otherwise adds a reorder, and returns its result.
  dnnl::memory in_layout(const std::string& name, const Setup& setup, const dnnl::memory& from,
                         const dnnl::memory::desc& wanted);

  void run(const dnnl::stream& stream) const {
    for (const Step& step : steps_) step.primitive.execute(stream, step.arguments);
  }
  bool empty() const { return steps_.empty(); }
  void describe(std::vector<std::string>& lines) const {
    for (const Step& step : steps_) lines.push_back(step.line);
  }

 private:
  struct Step {
    std::string line;
    dnnl::primitive primitive;
    Arguments arguments;
  };
  std::vector<Step> steps_;
};

/// Runs the steps of a pass. An operation without primitives overrides the passes.
class Operation {
 public:
  explicit Operation(const Setup& setup) : stream_(setup.stream) {}
  virtual ~Operation() = default;
  virtual void forward(Mode /*mode*/, const RandomKey& /*key*/) { forward_.run(stream_); }
  virtual void backward() { backward_.run(stream_); }
  virtual void describe(std::vector<std::string>& lines) const {
    forward_.describe(lines);
    backward_.describe(lines);
  }
  const Value& output() const { return output_; }

 protected:
  const dnnl::stream& stream_;
  Value output_;
  Steps forward_, backward_;
};

using OperationPtr = std::unique_ptr<Operation>;

OperationPtr new_convolution(const Setup& setup, const Value& x, const ConvolutionSpec& spec,
                             const ParameterView& weight);
OperationPtr new_batch_normalization(const Setup& setup, const Value& x, const BatchNormalizationSpec& spec,
                                     const BatchNormalizationParameters& parameters);
OperationPtr new_relu(const Setup& setup, const Value& x);
OperationPtr new_gelu(const Setup& setup, const Value& x);
OperationPtr new_bias(const Setup& setup, const Value& x, const ParameterView& bias);
OperationPtr new_max_pooling(const Setup& setup, const Value& x, const PoolingSpec& spec);
/// `layer`: the index of this dropout layer in the graph.
OperationPtr new_dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer);
OperationPtr new_linear(const Setup& setup, const Value& x, int out, const ParameterView& weight,
                        const ParameterView* bias);
OperationPtr new_logits(const Setup& setup, const Value& x, const LogitsSpec& spec);
OperationPtr new_softmax_cross_entropy(const Setup& setup, const Value& x);

}  // namespace odori::cpu
