#include "distributed/multi_node_exchange.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "core/error.h"
#include "trace/evidence.h"
#include "trace/refusal.h"
#include "trace/trace.h"

namespace odori {
namespace {

void record(const char* what, std::vector<std::int64_t> about = {}) {
  evidence::write(facts::Event{what, std::move(about)});
}
void record_range(const char* what, Range range) {
  record(what, std::vector{static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)});
}

// An index that doesn't exist gets one of these, and what is made of them ends as they do.
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
constexpr Range before_the_first{nowhere - 1, nowhere - 1}, behind_the_last{nowhere, nowhere};

/// Adds the time for which it lives.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

void GradientExchange::setup(Device& device, Buffer& memory, std::vector<Range> parameters, Arrival arrival) {
  require(device.kind() == DeviceKind::cpu,
          "Gradients travel from host memory here, and rank {} is on {}. Give --device cpu.", comm.rank(),
          device.description());
  if (background_) background_->wait();
  if (!background_ && arrival == Arrival::soon) background_.emplace();
  waiting_.clear();
  device_ = &device, memory_ = &memory, arrival_ = arrival;
  fenced_ = std::move(parameters);
  fenced_.insert(fenced_.begin(), before_the_first);
  fenced_.push_back(behind_the_last);
  travelling_ = device.allocate(memory.size());
  gradients = {memory.data(), memory.size()};
  travelling = {travelling_.data(), travelling_.size()};
  iteration = 0;
  prepare(this->parameters());
}

bool GradientExchange::iterate(const std::function<void(const FinalGradients&)>& backward) {
  require(device_ != nullptr, "An exchange of gradients has to be set up before its first iteration: setup().");
  seconds_ = exposed_seconds_ = 0;
  const Stopwatch all(seconds_);
  backward([this](Range range) {
    record_range("final", range);
    const Stopwatch exposed(exposed_seconds_);
    are_final(range);
  });
  record("finish");
  const Stopwatch exposed(exposed_seconds_);
  const bool updates = finish();
  check_views();
  record(updates ? "update" : "no_update");
  ++iteration;
  return updates;
}

void GradientExchange::check_whole_parameters(Range range) const {
  const auto begins = [&](const Range& parameter) { return parameter.begin == range.begin; };
  const auto ends = [&](const Range& parameter) { return parameter.end == range.end; };
  const std::size_t n = parameters().size();
  refusal::require(refusal::no_such_parameter, range.end != behind_the_last.end,
                   "start: parameters[{}] doesn't exist. There are {}, counted from 0.", n, n);
  refusal::require(refusal::no_such_parameter, range.end != before_the_first.end,
                   "start: parameters[-1] doesn't exist. There are {}, counted from 0.", n);
  refusal::require(refusal::no_such_range, range.begin < range.end && range.end <= memory_->size(),
                   "start: this range is not a part of the {} gradients, or is empty.", memory_->size());
  refusal::require(refusal::cannot_travel,
                   std::ranges::any_of(parameters(), begins) &&
                       (range.end == memory_->size() || std::ranges::any_of(parameters(), ends)),
                   "start: [{}, {}) of {} gradients doesn't begin and end with a parameter.", range.begin, range.end,
                   memory_->size());
}

void GradientExchange::check_views() const {
  const auto shows = [](std::span<float> view, const Buffer& memory) {
    return view.data() == memory.data() && view.size() == memory.size();
  };
  refusal::require(
      refusal::views_changed, shows(gradients, *memory_) && shows(travelling, travelling_),
      "finish: `gradients` or `travelling` shows other numbers than before. Copy or swap the numbers, not the spans: "
      "std::ranges::copy(), std::ranges::swap_ranges().");
}

void GradientExchange::start(Range range) {
  check_whole_parameters(range);
  record_range("start", range);
  send(*memory_, range);
}

void GradientExchange::start(std::span<float> numbers) {
  const auto begin_in = [&](Buffer& memory) -> std::optional<std::size_t> {
    const bool is_there = std::less_equal<>()(memory.data(), numbers.data()) &&
                          std::less<>()(numbers.data(), memory.data() + memory.size());
    return is_there ? std::optional(static_cast<std::size_t>(numbers.data() - memory.data())) : std::nullopt;
  };
  if (const auto begin = begin_in(*memory_)) return start(Range{*begin, *begin + numbers.size()});
  const auto begin = begin_in(travelling_);
  refusal::require(refusal::cannot_travel, begin.has_value(),
                   "start: these numbers are neither in `gradients` nor in `travelling`: only those can travel.");
  const Range range{*begin, *begin + numbers.size()};
  check_whole_parameters(range);
  record_range("start_travelling", range);
  send(travelling_, range);
}

void GradientExchange::send(Buffer& memory, Range range) {
  auto call = [this, &memory, range] {
    trace::set_device(device_->id());
    comm.all_reduce_mean(*device_, memory, {&range, 1});
  };
  if (arrival_ == Arrival::soon) return background_->start(std::move(call));
  const auto numbers = std::span<const float>(memory.data(), memory.size()).subspan(range.begin, range.size());
  waiting_.push_back([&memory, range, call = std::move(call), sent = std::vector(numbers.begin(), numbers.end())] {
    std::ranges::copy(sent, memory.data() + range.begin);
    call();
  });
}

void GradientExchange::wait() {
  record("wait");
  if (background_) background_->wait();
  for (; !waiting_.empty(); waiting_.pop_front()) waiting_.front()();
}

void GradientExchange::average(std::span<float> numbers) {
  start(numbers);
  wait();
}

void GradientExchange::sum_in(Dtype dtype, std::span<float> numbers) {
  record("sum", std::vector{static_cast<std::int64_t>(8 * bytes_of(dtype)), static_cast<std::int64_t>(numbers.size())});
  if (summed_.size() < numbers.size()) summed_ = device_->allocate(numbers.size());
  // The communicator divides by the number of ranks before it packs: these are packed as they are.
  const auto n = static_cast<float>(comm.size());
  std::ranges::transform(numbers, summed_.data(), [n](float number) { return n * number; });
  const Range all{0, numbers.size()};
  comm.all_reduce_mean_in(dtype, *device_, summed_, {&all, 1});
  std::copy_n(summed_.data(), numbers.size(), numbers.begin());
}

}  // namespace odori
