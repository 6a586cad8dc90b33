// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/convolution_algorithm.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>

#include "backend/cuda/kernels/vector.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
constexpr int rounds = 5;
/// A plan that is so much slower than the fastest is tried no more: cuDNN's last resorts take a hundred times as long.
constexpr float hopeless = 2;

std::string key_of(CudaDevice& device, const ConvolutionCase& c) {
  return fmt::format("convolution {}, {} -> {}, {}x{}, stride {}, padding {}; {}; {}; {}", to_string(c.pass),
                     to_string(c.x), c.spec.out_channels, c.spec.kernel, c.spec.kernel, c.spec.stride, c.spec.padding,
                     to_string(c.precision), device.convolutions().version(), device.gpu_name());
}

/// Memory to try plans in, for all three tensors of a pass, whichever is which. It holds noise: of zeros a GPU makes
/// products with less power, hence at a higher clock.
class Trials {
 public:
  Trials(const Setup& setup, const ConvolutionCase& c, std::size_t workspace_bytes) : stream_(setup.stream()) {
    const Shape weight{c.spec.out_channels, c.x.c, c.spec.kernel, c.spec.kernel};
    const std::size_t bytes = setup.bytes({1, 1, 1, 1}) * std::max({c.x.size(), c.y.size(), weight.size()});
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      tensors_[i] = allocate_zeros(bytes, "trying convolutions", stream_);
      kernels::fill_with_noise(stream_, setup.storage, tensors_[i].get(), bytes / bytes_of(setup.storage), i);
    }
    workspace_ = allocate_zeros(workspace_bytes, "trying convolutions", stream_);
  }

  void run(ConvolutionPlan& plan) {
    plan.run({tensors_[0].get(), tensors_[1].get(), tensors_[2].get(), workspace_.get()});
  }
  float milliseconds(ConvolutionPlan& plan) {
    check(cudaEventRecord(begin_.get(), stream_), "measuring convolutions");
    run(plan);
    check(cudaEventRecord(end_.get(), stream_), "measuring convolutions");
    check(cudaEventSynchronize(end_.get()), "measuring convolutions");
    float time = 0;
    check(cudaEventElapsedTime(&time, begin_.get(), end_.get()), "measuring convolutions");
    return time;
  }

 private:
  cudaStream_t stream_;
  std::array<DeviceMemory, 3> tensors_;
  DeviceMemory workspace_;
  Event begin_ = new_event(true), end_ = new_event(true);
};

std::string describe(const ConvolutionPlan& plan, const std::string& why) {
  return fmt::format("{}, {:.1f} MiB of workspace, {}", plan.name(),
                     static_cast<double>(plan.workspace_bytes()) / (1 << 20), why);
}

ChosenPlan measure(const Setup& setup, const ConvolutionCase& which) {
  auto plans = setup.device.convolutions().plans(which, setup.device.workspace_limit(), any_number);
  std::size_t workspace_bytes = 0;
  for (const auto& plan : plans) workspace_bytes = std::max(workspace_bytes, plan->workspace_bytes());
  Trials trials(setup, which, workspace_bytes);
  // The first run loads programs. A plan that can't be run is none; where all are, the GPU has a fault to tell.
  std::exception_ptr failure;
  std::erase_if(plans, [&](const ConvolutionPlanPtr& plan) {
    try {
      trials.run(*plan);
      return false;
    } catch (const Error&) {
      failure = std::current_exception();
      return true;
    }
  });
  if (plans.empty()) std::rethrow_exception(failure);
  // The least of each, in turn: the GPU's clock changes meanwhile.
  std::vector<float> times(plans.size(), std::numeric_limits<float>::infinity());
  for (int round = 0; round < rounds; ++round) {
    const float limit = hopeless * *std::min_element(times.begin(), times.end());
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (round == 0 || times[i] <= limit) times[i] = std::min(times[i], trials.milliseconds(*plans[i]));
  }
  const auto best = std::min_element(times.begin(), times.end());
  ConvolutionPlanPtr& chosen = plans[static_cast<std::size_t>(best - times.begin())];
  const std::string line =
      describe(*chosen, fmt::format("{:.3f} ms, the fastest of {}; cuDNN's first guess takes {:.3f} ms", *best,
                                    times.size(), times.front()));
  return {std::move(chosen), line};
}

}  // namespace

ChosenPlan choose_plan(const Setup& setup, const ConvolutionCase& which) {
  CudaDevice& device = setup.device;
  const std::string key = key_of(device, which);
  auto& table = setup.algorithms.chosen;
  if (const auto known = table.find(key); known != table.end())
    if (ConvolutionPlanPtr plan = device.convolutions().plan(which, known->second)) {
      const std::string line = describe(*plan, "as chosen before");
      return {std::move(plan), line};
    }
  ChosenPlan chosen;
  if (setup.algorithms.measure) {
    chosen = measure(setup, which);
  } else {
    chosen.plan = std::move(device.convolutions().plans(which, device.workspace_limit(), 1).front());
    chosen.line = describe(*chosen.plan, "by cuDNN's heuristics");
  }
  table[key] = chosen.plan->name();
  return chosen;
}

}  // namespace odori::cuda
