// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>

#include "distributed/exchange/context.h"
#include "errors/error.h"
#include "observe/refusal.h"
#include "overlap_support.h"
#include "recorded_strategy.h"

namespace odori {
namespace {

// The values of parameters[-1] and parameters[n]. A range made from one of them has its begin or end.
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
constexpr Range before_the_first{nowhere - 1, nowhere - 1}, after_the_last{nowhere, nowhere};

}  // namespace

void HostStrategy::setup(ExchangeContext& context) {
  Device& device = context.device;
  require(device.kind() == DeviceKind::cpu,
          "This exercise exchanges gradients of host memory, and rank {} is on {}. Give --device cpu.", comm.rank(),
          device.description());
  context_ = &context;
  context.enable_async();
  fenced_ = context.ranges;
  fenced_.insert(fenced_.begin(), before_the_first);
  fenced_.push_back(after_the_last);
  in_flight_ = device.allocate(context.gradients.size());
  gradients = {context.gradients.data(), context.gradients.size()};
  in_flight = {in_flight_.data(), in_flight_.size()};
  iteration = 0;
  started_.clear();
  prepare(parameters());
}

Buffer* HostStrategy::pending() {
  wait();
  return &in_flight_;
}

void HostStrategy::end_iteration() {
  const auto shows = [](std::span<float> view, const Buffer& memory) {
    return view.data() == memory.data() && view.size() == memory.size();
  };
  refusal::require(
      refusal::views_changed, shows(gradients, context_->gradients) && shows(in_flight, in_flight_),
      "finish: `gradients` or `in_flight` shows other numbers than before. Copy or swap the numbers, not the spans: "
      "std::ranges::copy(), std::ranges::swap_ranges().");
  ++iteration;
}

void HostStrategy::check_whole_parameters(Range range) const {
  const auto begins = [&](const Range& parameter) { return parameter.begin == range.begin; };
  const auto ends = [&](const Range& parameter) { return parameter.end == range.end; };
  const std::size_t n = parameters().size(), size = gradients.size();
  refusal::require(refusal::no_such_parameter, range.end != after_the_last.end,
                   "start: parameters[{}] doesn't exist. There are {}, counted from 0.", n, n);
  refusal::require(refusal::no_such_parameter, range.end != before_the_first.end,
                   "start: parameters[-1] doesn't exist. There are {}, counted from 0.", n);
  refusal::require(refusal::no_such_range, range.begin < range.end && range.end <= size,
                   "start: this range is not a part of the {} gradients, or is empty.", size);
  refusal::require(
      refusal::cannot_start,
      std::ranges::any_of(parameters(), begins) && (range.end == size || std::ranges::any_of(parameters(), ends)),
      "start: [{}, {}) of {} gradients doesn't begin and end with a parameter.", range.begin, range.end, size);
}

void HostStrategy::start(Range range) {
  check_whole_parameters(range);
  record_range("start", range);
  context_->start(context_->gradients, {&started_.emplace_back(range), 1});
}

void HostStrategy::start(std::span<float> elements) {
  const auto begin_in = [&](Buffer& memory) -> std::optional<std::size_t> {
    const bool is_there = std::less_equal<>()(memory.data(), elements.data()) &&
                          std::less<>()(elements.data(), memory.data() + memory.size());
    return is_there ? std::optional(static_cast<std::size_t>(elements.data() - memory.data())) : std::nullopt;
  };
  if (const auto begin = begin_in(context_->gradients)) return start(Range{*begin, *begin + elements.size()});
  const auto begin = begin_in(in_flight_);
  refusal::require(refusal::cannot_start, begin.has_value(),
                   "start: these elements are neither in `gradients` nor in `in_flight`: only those can be sent.");
  const Range range{*begin, *begin + elements.size()};
  check_whole_parameters(range);
  record_range("start_in_flight", range);
  context_->start(in_flight_, {&started_.emplace_back(range), 1});
}

void HostStrategy::wait() {
  observe::on_event("wait");
  context_->wait();
  started_.clear();
}

void HostStrategy::average(std::span<float> elements) {
  start(elements);
  wait();
}

void HostStrategy::sum_in(Dtype dtype, std::span<float> elements) {
  const auto n_elements = static_cast<std::int64_t>(elements.size());
  observe::on_event("sum", {static_cast<std::int64_t>(8 * bytes_of(dtype)), n_elements});
  if (summed_.size() < elements.size()) summed_ = context_->device.allocate(elements.size());
  // The communicator divides by the number of ranks before it sends; this cancels that.
  const auto n = static_cast<float>(comm.size());
  std::ranges::transform(elements, summed_.data(), [n](float element) { return n * element; });
  const Range all{0, elements.size()};
  comm.all_reduce_mean_in(dtype, context_->device, summed_, {&all, 1});
  std::copy_n(summed_.data(), elements.size(), elements.begin());
}

}  // namespace odori
