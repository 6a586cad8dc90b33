// SPDX-License-Identifier: Apache-2.0
// Fuses a graph's forward pass, its backward pass and the optimizer's update into one step.
//
// Forward, backward and weight decay are deferred until the next operation is known. If that is momentum SGD on all
// parameters, everything is launched as one CUDA graph (GpuOptimization::step_graph), and the update is one kernel,
// which reads bf16 gradients and writes the bf16 copy of the weights (GpuOptimization::fused_update). Any other
// operation, such as a read of the gradients, an exchange or an event, calls CudaDevice::stream(), which first queues
// the deferred work. So optimizers and updaters need not know of it.
//
// After a fused update, the gradients in the flat vector are those of the backward pass, without weight decay.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backend/cuda/captured_graph.h"
#include "backend/cuda/load.h"
#include "backend/cuda/operation.h"

namespace odori::cuda {

class TrainingStep {
 public:
  /// `forward` and `backward` queue the operations of a pass. Keeps references to the other arguments.
  TrainingStep(const Setup& setup, Loader& loader, std::function<void()> forward,
               std::function<void(const OnGradientReady&)> backward);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// Runs or defers a pass.
  void forward();
  void backward(const OnGradientReady& on_gradient_ready);
  /// Queues deferred work.
  void flush();
  /// The same, before anything else uses the model's memory.
  void settle();

  /// Weight decay, g += rate * p on `range`. Returns true if it was deferred to the update; false if the caller must do
  /// it.
  bool add_decay(float rate, const Buffer& p, const Buffer& g, Range range);
  /// Device::momentum_sgd. Returns true if it was queued here; false if the caller must do it.
  bool momentum_sgd(const Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                    std::size_t v_begin);
  /// True if `buffer` is one of the model's flat vectors.
  bool owns(const Buffer& buffer) const;
  /// Device::look_ahead with `fast` in the model's memory. Returns true if it was queued here; it then also writes the
  /// bf16 copy of the weights.
  bool look_ahead(Buffer& slow, Buffer& fast, float keep, Range range);

  /// "forward captured, backward not captured yet, step captured"
  std::string state() const;

 private:
  enum class Waiting { nothing, forward, both };
  struct Decay {
    float rate;
    Range range;
  };
  /// Values that are fixed in a captured step.
  struct Fixed {
    const float* v = nullptr;
    float decay = 0;
    bool operator==(const Fixed&) const = default;
  };

  bool has(GpuOptimization one) const { return setup_.device.has(one); }
  bool is_own(const Buffer& p, const Buffer& g) const;
  void flush_passes();
  void run_forward();
  void run_backward();
  /// Queues the operations of backward. `keep_bf16`: without casting gradients to fp32.
  void queue_backward(bool keep_bf16, const OnGradientReady& on_gradient_ready = {});
  void run_step(Buffer& v, const MomentumGroups& groups);
  void queue_update(float* v, float decay);
  /// Copies the table of parameter groups to the GPU if it has changed, and discards a step captured with another
  /// table.
  void place_groups(std::span<const MomentumGroups::Part> parts);
  void forget_step();

  const Setup& setup_;
  Loader& loader_;
  std::function<void()> queue_forward_;
  std::function<void(const OnGradientReady&)> queue_backward_;
  Waiting waiting_ = Waiting::nothing;
  std::optional<Decay> decay_;                               // deferred
  CapturedGraph forward_, backward_, backward_bf16_, step_;  // backward_bf16_: without casts
  Fixed captured_;                                           // of step_
  std::vector<MomentumGroups::Part> parts_;                  // of the table
  DeviceMemory groups_;                                      // UpdateVectors::groups
};

}  // namespace odori::cuda
