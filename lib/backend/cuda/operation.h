// SPDX-License-Identifier: Apache-2.0
// Operations of a graph on a GPU: the work that they queue on the device's stream, and their memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/kernels/momentum_sgd.h"
#include "backend/cuda/kernels/step.h"
#include "backend/cuda/kernels/storage.h"
#include "backend/cuda/memory_plan.h"
#include "backend/graph.h"

namespace odori::cuda {

/// A tensor of the graph, N x H x W x C in memory. `gradient` is empty where it is not needed: before the first
/// parameter.
struct Value {
  Shape shape;  // as N, C, H, W
  Place data, gradient;
  int gradient_side = 0;  // which of the plan's two regions the gradient is in
};

/// Access of operations to the model's flat vectors. Addresses are valid after finish().
///
/// With Storage::bf16, weights have a bf16 copy, and gradients of convolution weights are computed in bf16. The fused
/// update reads these directly (kernels/momentum_sgd.h); for all other uses they are cast to fp32 in the flat vector.
class Parameters {
 public:
  Parameters(ModelMemory& memory, Storage storage) : memory_(memory), storage_(storage) {}

  float* value(const ParameterView& view) const { return memory_.parameters.data() + view.offset; }
  float* gradient(const ParameterView& view) const { return memory_.gradients.data() + view.offset; }
  float* statistic(const ParameterView& view) const { return memory_.statistics.data() + view.offset; }
  /// A weight in the storage's type: in the flat vector, or its bf16 copy.
  const void* weight(const ParameterView& view) const {
    if (storage_ == Storage::fp32) return value(view);
    return copy_.get() + view.offset * bytes_of(storage_);
  }
  /// Computes this weight's gradient in the storage's type. Call it before finish().
  void compute_in_storage(const ParameterView& weight) {
    if (storage_ != Storage::fp32) in_bf16_.push_back(weight);
  }
  /// Memory for such a gradient. After writing it, call written().
  void* gradient_in_storage(const ParameterView& weight) const;
  /// Queues the cast of a written gradient to fp32, unless casts are held back.
  void written(const ParameterView& weight, cudaStream_t stream) const;
  void hold_casts_back(bool hold) { casts_held_back_ = hold; }
  /// Records whether the casts of the last backward pass were held back.
  void set_casts_missing(bool missing) { casts_missing_ = missing; }
  /// Queues the casts that the last backward pass held back, if any.
  void cast_gradients(cudaStream_t stream);

  void finish(cudaStream_t stream);
  /// Updates the bf16 copy of the weights, if there is one and it is outdated.
  void refresh(cudaStream_t stream);
  /// Sets whether the copy is up to date: false after anything else may have written parameters.
  void set_copied(bool copied) { copied_ = copied; }
  /// Arguments of the fused update. `in_storage`: with gradients and copy in bf16.
  kernels::UpdateVectors update_vectors(float* velocities, bool in_storage) const;
  /// The bf16 copy of the weights, or null.
  void* copy() const { return copy_.get(); }
  ModelMemory& memory() const { return memory_; }
  Storage storage() const { return storage_; }

 private:
  ModelMemory& memory_;
  Storage storage_;
  std::vector<ParameterView> in_bf16_;
  DeviceMemory copy_, gradients_, bits_;  // all in bf16; bits: UpdateVectors::in_bf16
  bool copied_ = false, casts_held_back_ = false, casts_missing_ = false;
};

/// Everything that operations are built from. They keep a reference to it.
struct Setup {
  CudaDevice& device;
  Storage storage;
  Parameters& parameters;
  AlgorithmTable& algorithms;
  MemoryPlan& plan;
  const DeviceMemory& step;     // a Step with its examples (kernels/step.h)
  const DeviceMemory& metrics;  // one kernels::MetricsMemory

  std::size_t bytes(const Shape& shape) const { return shape.size() * bytes_of(storage); }
  cudaStream_t stream() const { return device.pass_stream(); }
  const Step* step_data() const { return reinterpret_cast<const Step*>(step.get()); }
};

class Operation {
 public:
  virtual ~Operation() = default;
  virtual void forward(Mode mode) = 0;
  virtual void backward() = 0;
  /// Fuses the dropout of this operation's output into it, forward and backward, with the same bits. Returns false if
  /// it cannot.
  virtual bool fuse_dropout(float /*ratio*/, std::uint32_t /*layer*/) { return false; }
  /// Fuses the GELU of this operation's output into it. Returns false if it cannot.
  virtual bool fuse_gelu() { return false; }
  virtual void describe(std::vector<std::string>& lines) const = 0;
  const Value& output() const { return output_; }

 protected:
  Value output_;
};

using OperationPtr = std::unique_ptr<Operation>;

/// Creates an operation that queues one kernel per pass. describe() gives "NAME OUTPUT'S SHAPE forward and backward:
/// one kernel each" and `remark`.
OperationPtr of_kernels(const Value& output, const std::string& name, const std::string& remark,
                        std::function<void(Mode)> forward, std::function<void()> backward);

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

}  // namespace odori::cuda
