// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/training_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "backend/cuda/kernels/vector.h"
#include "trace/trace.h"

namespace odori::cuda {
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

bool TrainingStep::momentum_sgd(const Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                                std::size_t v_begin) {
  const std::size_t n = setup_.parameters.memory().parameters.size();
  if (!is_own(p, g)) return false;
  // One decay at a time, of all elements: the groups' own, or that which waits.
  const auto decays = [](const MomentumFactors& one) { return one.decay != 0; };
  if (decay_ && (decay_->range != range || std::ranges::any_of(groups.factors, decays))) return false;
  const bool fused = has(GpuOptimization::fused_update);
  const bool step = waiting_ == Waiting::both && range == Range{0, n} && v_begin == 0 && v.size() == n &&
                    (fused || groups.parts.empty());
  if (!step && !fused) return false;
  MomentumGroups with_decay = groups;
  if (const auto decay = std::exchange(decay_, {}))
    for (MomentumFactors& one : with_decay.factors) one.decay = decay->rate;
  if (step) {
    run_step(v, with_decay);
    return true;
  }
  flush_passes();
  setup_.parameters.cast_gradients(setup_.stream());
  setup_.parameters.set_copied(false);
  kernels::UpdateVectors some = setup_.parameters.update_vectors(v.data() + (range.begin - v_begin), false);
  some.p += range.begin, some.g += range.begin;
  kernels::momentum_sgd(setup_.stream(), some, with_decay, range);
  return true;
}

bool TrainingStep::owns(const Buffer& buffer) const {
  const ModelMemory& memory = setup_.parameters.memory();
  return buffer.data() == memory.parameters.data() || buffer.data() == memory.gradients.data() ||
         buffer.data() == memory.statistics.data();
}

bool TrainingStep::look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) {
  ModelMemory& memory = setup_.parameters.memory();
  const bool of_parameters = fast.data() == memory.parameters.data();
  if (!has(GpuOptimization::fused_update)) return false;
  if (!of_parameters && fast.data() != memory.statistics.data()) return false;
  setup_.device.flush();
  void* copy = nullptr;
  if (of_parameters) {
    const bool whole = range.size() == memory.parameters.size();
    if (whole) copy = setup_.parameters.copy();
    setup_.parameters.set_copied(copy != nullptr);
  }
  kernels::look_ahead(setup_.stream(), slow.data() + range.begin, fast.data() + range.begin, copy, keep, range.size());
  return true;
}

void TrainingStep::run_step(Buffer& v, const MomentumGroups& groups) {
  waiting_ = Waiting::nothing;
  const bool fused = has(GpuOptimization::fused_update), capture = !trace::watched();
  const float decay = fused ? 0 : groups.factors[0].decay;  // that a kernel before the update's adds
  UpdateFactors factors = groups.factors;
  if (!fused)
    for (MomentumFactors& one : factors) one.decay = 0;
  loader_.send_update(factors);
  place_groups(groups.parts);
  setup_.parameters.refresh(setup_.stream());
  if (has(GpuOptimization::step_graph)) {
    if (const Fixed fixed{v.data(), decay}; !(fixed == captured_)) {
      forget_step();
      captured_ = fixed;
    }
    step_.run(setup_.stream(), capture, [&] {
      queue_forward_();
      queue_backward(fused);
      queue_update(v.data(), decay);
    });
  } else {
    forward_.run(setup_.stream(), capture, queue_forward_);
    (fused ? backward_bf16_ : backward_).run(setup_.stream(), capture, [&] { queue_backward(fused); });
    queue_update(v.data(), decay);
  }
  const bool with_bf16 = fused && setup_.storage != Storage::fp32;
  setup_.parameters.set_casts_missing(with_bf16);
  setup_.parameters.set_copied(with_bf16);
}

void TrainingStep::forget_step() {
  setup_.device.synchronize();  // it may be running
  step_ = CapturedGraph();
}

void TrainingStep::place_groups(std::span<const MomentumGroups::Part> parts) {
  if (std::ranges::equal(parts, parts_)) return;
  forget_step();
  parts_.assign(parts.begin(), parts.end());
  std::vector<std::uint8_t> table(setup_.parameters.memory().parameters.size() / 16 + 1);
  for (const auto& [range, group] : parts_)
    for (std::size_t i = range.begin / 16; 16 * i < range.end; ++i) table[i] = static_cast<std::uint8_t>(group);
  if (!groups_) groups_ = allocate_zeros(table.size(), "a table of parameter groups", setup_.stream());
  check(cudaMemcpyAsync(groups_.get(), table.data(), table.size(), cudaMemcpyHostToDevice, setup_.stream()),
        "copying to it");
  check(cudaStreamSynchronize(setup_.stream()), "copying to it");
}

void TrainingStep::queue_update(float* v, float decay) {
  ModelMemory& memory = setup_.parameters.memory();
  const std::size_t n = memory.parameters.size();
  if (decay != 0) kernels::axpy(setup_.stream(), decay, memory.parameters.data(), memory.gradients.data(), n);
  kernels::UpdateVectors vectors = setup_.parameters.update_vectors(v, has(GpuOptimization::fused_update));
  if (!parts_.empty()) vectors.groups = reinterpret_cast<const std::uint8_t*>(groups_.get());
  kernels::momentum_sgd(setup_.stream(), vectors, setup_.step_data()->update.data(), n);
}

std::string TrainingStep::state() const {
  return fmt::format("forward {}, backward {}, step {}", forward_.state(), backward_.state(), step_.state());
}

}  // namespace odori::cuda
