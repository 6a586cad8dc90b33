// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/training_step.h"

#include <fmt/core.h>

#include <utility>

#include "backend/cuda/kernels/vector.h"
#include "trace/trace.h"

namespace odori::cuda {
namespace {

bool same(const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }

}  // namespace

TrainingStep::TrainingStep(const Setup& setup, Loader& loader, std::function<void()> forward,
                           std::function<void(const OnGradientReady&)> backward)
    : setup_(setup), loader_(loader), queue_forward_(std::move(forward)), queue_backward_(std::move(backward)) {
  setup_.device.add_step(*this);
}

TrainingStep::~TrainingStep() { setup_.device.remove_step(*this); }

// ---- Passes

void TrainingStep::forward() {
  setup_.device.flush();
  // Without an optimization that needs them together, or with each operation watched, there is nothing to wait for.
  const bool joins =
      has(GpuOptimization::step_graph) || (has(GpuOptimization::fused_update) && setup_.storage != Storage::fp32);
  if (joins && !trace::watched())
    waiting_ = Waiting::forward;
  else
    run_forward();
}

void TrainingStep::backward(const OnGradientReady& on_gradient_ready) {
  if (waiting_ == Waiting::forward && !on_gradient_ready) {
    waiting_ = Waiting::both;
    return;
  }
  flush();
  if (on_gradient_ready) {
    queue_backward(false, on_gradient_ready);
    setup_.parameters.set_casts_missing(false);
  } else {
    run_backward();
  }
}

void TrainingStep::flush_passes() {
  const Waiting waiting = std::exchange(waiting_, Waiting::nothing);
  if (waiting == Waiting::nothing) return;
  setup_.device.bind_thread();
  run_forward();
  if (waiting == Waiting::both) run_backward();
}

void TrainingStep::flush() {
  flush_passes();
  if (const auto decay = std::exchange(decay_, {})) {
    setup_.parameters.cast_gradients(setup_.stream());
    ModelMemory& memory = setup_.parameters.memory();
    kernels::axpy(setup_.stream(), decay->rate, memory.parameters.data() + decay->range.begin,
                  memory.gradients.data() + decay->range.begin, decay->range.size());
  }
}

void TrainingStep::settle() {
  flush();
  setup_.parameters.cast_gradients(setup_.stream());
  setup_.parameters.set_copied(false);
}

void TrainingStep::run_forward() {
  setup_.parameters.refresh(setup_.stream());
  forward_.run(setup_.stream(), !trace::watched(), queue_forward_);
}

void TrainingStep::run_backward() {
  backward_.run(setup_.stream(), !trace::watched(), [&] { queue_backward(false); });
  setup_.parameters.set_casts_missing(false);
}

void TrainingStep::queue_backward(bool keep_bf16, const OnGradientReady& on_gradient_ready) {
  setup_.parameters.hold_casts_back(keep_bf16);
  queue_backward_(on_gradient_ready);
  setup_.parameters.hold_casts_back(false);
}

// ---- The update

bool TrainingStep::is_own(const Buffer& p, const Buffer& g) const {
  const ModelMemory& memory = setup_.parameters.memory();
  return p.data() == memory.parameters.data() && g.data() == memory.gradients.data();
}

bool TrainingStep::add_decay(float rate, const Buffer& p, const Buffer& g, Range range) {
  if (decay_ || !is_own(p, g) || (waiting_ != Waiting::both && !has(GpuOptimization::fused_update))) return false;
  decay_ = {rate, range};
  return true;
}

bool TrainingStep::momentum_sgd(const Buffer& p, const Buffer& g, Buffer& v, float rate, float momentum, Range range,
                                std::size_t v_begin) {
  const std::size_t n = setup_.parameters.memory().parameters.size();
  if (!is_own(p, g) || (decay_ && !same(decay_->range, range))) return false;
  const bool step = waiting_ == Waiting::both && same(range, {0, n}) && v_begin == 0 && v.size() == n;
  if (!step && !has(GpuOptimization::fused_update)) return false;
  const auto decay = std::exchange(decay_, {});
  const MomentumFactors factors{rate, momentum, decay ? decay->rate : 0};
  if (step) {
    run_step(v, factors);
    return true;
  }
  flush_passes();
  setup_.parameters.cast_gradients(setup_.stream());
  setup_.parameters.set_copied(false);
  kernels::UpdateVectors some = setup_.parameters.update_vectors(v.data() + (range.begin - v_begin), false);
  some.p += range.begin, some.g += range.begin;
  kernels::momentum_sgd(setup_.stream(), some, factors, range.size());
  return true;
}

void TrainingStep::run_step(Buffer& v, const MomentumFactors& factors) {
  waiting_ = Waiting::nothing;
  const bool fused = has(GpuOptimization::fused_update), capture = !trace::watched();
  loader_.send_update(fused ? factors : MomentumFactors{factors.rate, factors.momentum});
  setup_.parameters.refresh(setup_.stream());
  if (has(GpuOptimization::step_graph)) {
    if (const Fixed fixed{v.data(), fused ? 0 : factors.decay}; !(fixed == captured_)) {
      setup_.device.synchronize();  // it may be running
      step_ = CapturedGraph();
      captured_ = fixed;
    }
    step_.run(setup_.stream(), capture, [&] {
      queue_forward_();
      queue_backward(fused);
      queue_update(v.data(), factors);
    });
  } else {
    forward_.run(setup_.stream(), capture, queue_forward_);
    (fused ? backward_bf16_ : backward_).run(setup_.stream(), capture, [&] { queue_backward(fused); });
    queue_update(v.data(), factors);
  }
  const bool with_bf16 = fused && setup_.storage != Storage::fp32;
  setup_.parameters.set_casts_missing(with_bf16);
  setup_.parameters.set_copied(with_bf16);
}

void TrainingStep::queue_update(float* v, const MomentumFactors& factors) {
  const bool fused = has(GpuOptimization::fused_update);
  ModelMemory& memory = setup_.parameters.memory();
  if (!fused && factors.decay != 0)
    kernels::axpy(setup_.stream(), factors.decay, memory.parameters.data(), memory.gradients.data(),
                  memory.parameters.size());
  kernels::momentum_sgd(setup_.stream(), setup_.parameters.update_vectors(v, fused), &setup_.step_data()->update,
                        memory.parameters.size());
}

std::string TrainingStep::state() const {
  return fmt::format("forward {}, backward {}, step {}", forward_.state(), backward_.state(), step_.state());
}

}  // namespace odori::cuda
