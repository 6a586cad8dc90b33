// SPDX-License-Identifier: Apache-2.0
// Joins a graph's forward pass, its backward pass and the optimizer's update into one step.
//
// The forward and the backward pass of training, and the weight decay that follows, wait until it is known what comes
// after them. If that is momentum SGD on all parameters, the three are one CUDA graph (GpuOptimization::step_graph),
// and the update is one kernel, which takes gradients of bf16 as backward has computed them and writes the weights'
// copy of bf16 (GpuOptimization::fused_update). If it is anything else, such as a read of the gradients, an exchange or
// an event for another stream, it asks the device for its stream (CudaDevice::stream()), which queues first what waits,
// as if nothing had waited. So neither optimizers nor updaters know of it.
//
// After an update in one kernel, the gradients in the flat vector are those of the backward pass, without weight decay.
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
  /// `forward` and `backward` queue the operations of a pass. It keeps references to the rest.
  TrainingStep(const Setup& setup, Loader& loader, std::function<void()> forward,
               std::function<void(const OnGradientReady&)> backward);
  ~TrainingStep();
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  /// The passes, which wait if they may.
  void forward();
  void backward(const OnGradientReady& on_gradient_ready);
  /// Queues what waits.
  void flush();
  /// The same, before anyone else uses the model's memory.
  void settle();

  /// g += rate * p on `range`: true if p and g are this model's, and it waits for the update.
  bool add_decay(float rate, const Buffer& p, const Buffer& g, Range range);
  /// Device::momentum_sgd: true if it has been queued here.
  bool momentum_sgd(const Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                    std::size_t v_begin);
  /// Is this memory of the model's?
  bool owns(const Buffer& buffer) const;
  /// Device::look_ahead into memory that no model owns: true if it has been queued here. Writes the weights' copy of bf16 as well.
  bool look_ahead(Buffer& slow, Buffer& fast, float keep, Range range);

  /// "forward captured, backward not captured yet, step captured"
  std::string state() const;

 private:
  enum class Waiting { nothing, forward, both };
  struct Decay {
    float rate;
    Range range;
  };
  /// What a captured step repeats.
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
  /// Queues the operations. `keep_bf16`: without casts of gradients to fp32.
  void queue_backward(bool keep_bf16, const OnGradientReady& on_gradient_ready = {});
  void run_step(Buffer& v, const MomentumGroups& groups);
  void queue_update(float* v, float decay);
  /// Makes the GPU's table of groups that of these parts, and forgets a step that was captured with another.
  void place_groups(std::span<const MomentumGroups::Part> parts);
  void forget_step();

  const Setup& setup_;
  Loader& loader_;
  std::function<void()> queue_forward_;
  std::function<void(const OnGradientReady&)> queue_backward_;
  Waiting waiting_ = Waiting::nothing;
  std::optional<Decay> decay_;                               // that waits
  CapturedGraph forward_, backward_, backward_bf16_, step_;  // backward_bf16_: without casts
  Fixed captured_;                                           // of step_
  std::vector<MomentumGroups::Part> parts_;                  // of the table
  DeviceMemory groups_;                                      // UpdateVectors::groups
};

}  // namespace odori::cuda
