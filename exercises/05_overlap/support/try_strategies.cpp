// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>

#include "backend/device_pool.h"
#include "distributed/exchange/context.h"
#include "known_gradients.h"
#include "observe/hooks.h"
#include "overlap_support.h"
#include "recorded_strategy.h"
#include "report/table.h"

namespace odori {
namespace {

/// Ends all-reduces in wait(), and not before: elements used earlier are the old ones, every time. Elements written in
/// between are lost.
class QueueUntilWait : public AsyncQueue {
 public:
  void start(Buffer& buffer, std::span<const Range> ranges, std::function<void()> all_reduce) override {
    const Range range = ranges.front();
    const auto elements = std::span<const float>(buffer.data(), buffer.size()).subspan(range.begin, range.size());
    started_.push_back(
        [&buffer, range, call = std::move(all_reduce), sent = std::vector(elements.begin(), elements.end())] {
          std::ranges::copy(sent, buffer.data() + range.begin);
          call();
        });
  }
  void wait() override {
    for (; !started_.empty(); started_.pop_front()) started_.front()();
  }

 private:
  std::deque<std::function<void()>> started_;
};

std::int64_t bytes_sent(const Communicator& comm) {
  const TrafficOfRank& traffic = comm.traffic();
  return traffic.sent_within_node.bytes + traffic.sent_to_other_nodes.bytes;
}

/// Gradients of known values (known_gradients.h), and weights that are updated by them.
class Trial {
 public:
  Trial(Communicator& comm, const trial::Setting& setting)
      : comm_(comm),
        iterations_(setting.iterations),
        seed_(setting.seed),
        pool_({.request = DeviceRequest::cpu}),
        device_(pool_.device(0)),
        layers_(trial::layers(setting.layers)) {
    for (const auto& layer : layers_) parameters_.insert(parameters_.end(), layer.begin(), layer.end());
    size_ = parameters_.back().end;
  }

  struct Result {
    std::optional<int> wrong;  // the first iteration with wrong weights
    std::int64_t sent = 0;     // bytes
  };
  Result run(const NamedStrategy& named, int number) {
    observe::on_event("way", {number});
    Buffer gradients = device_.allocate(size_), weights = device_.allocate(size_);
    for (const std::size_t i : positions()) weights.data()[i] = trial::first_weight(i);
    ExchangeContext context(comm_, device_, gradients, weights, parameters_);
    context.set_queue(std::make_unique<QueueUntilWait>());
    RecordedStrategy strategy(named.strategy, named.name);
    strategy.setup(context);
    const std::int64_t before = bytes_sent(comm_);
    std::optional<int> wrong;
    for (int k = 0; k < iterations_; ++k) {
      observe::on_event("iteration", {k});
      const std::vector<float> old(weights.data(), weights.data() + size_);
      backward(gradients, k, strategy);
      if (strategy.finish())
        for (std::size_t i = 0; i < size_; ++i)
          weights.data()[i] -= trial::rate * (gradients.data()[i] + trial::decay * old[i]);
      const std::span<const float> now(weights.data(), size_);
      observe::on_values(now);
      if (!wrong && !is_right(named, k, old, now)) wrong = k;
    }
    const std::int64_t sent = bytes_sent(comm_) - before;
    observe::on_event("sent", {sent});
    return {wrong, sent};
  }

 private:
  /// Of all parameters, without the gaps between them.
  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> all;
    for (const Range& parameter : parameters_)
      for (std::size_t i = parameter.begin; i < parameter.end; ++i) all.push_back(i);
    return all;
  }

  /// One layer after the other, the last one first.
  void backward(Buffer& gradients, int k, ExchangeStrategy& strategy) const {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      for (const Range& parameter : *layer)
        for (std::size_t i = parameter.begin; i < parameter.end; ++i)
          gradients.data()[i] = gradient(comm_.rank(), k, i);
      strategy.on_gradient_ready({layer->front().begin, layer->back().end});
    }
  }

  float gradient(int rank, int k, std::size_t i) const {
    return trial::gradient(seed_, rank, k, k == iterations_ - 1, i);
  }

  bool is_right(const NamedStrategy& named, int k, std::span<const float> old, std::span<const float> now) const {
    const int used = k - (named.one_late ? 1 : 0);
    for (const std::size_t i : positions()) {
      double mean = 0, expected = old[i];
      for (int rank = 0; rank < comm_.size(); ++rank) mean += gradient(rank, used, i) / comm_.size();
      if (used >= 0) expected -= trial::rate * (mean + trial::decay * old[i]);
      if (!(std::abs(now[i] - expected) <= 2e-3 * (1 + std::abs(expected)))) return false;  // half precision rounds
    }
    return true;
  }

  Communicator& comm_;
  int iterations_;
  std::uint64_t seed_;
  DevicePool pool_;
  Device& device_;
  std::vector<std::vector<Range>> layers_;
  std::vector<Range> parameters_;
  std::size_t size_ = 0;
};

}  // namespace

void try_strategies(const std::vector<NamedStrategy>& strategies, int layers, std::uint64_t seed, Communicator& comm) {
  std::vector<TableRow> rows;
  int number = 0;
  for (const trial::Setting& setting : trial::settings(layers, seed)) {
    Trial trial(comm, setting);
    for (const NamedStrategy& named : strategies) {
      const auto [wrong, sent] = trial.run(named, number++);
      rows.push_back({std::to_string(setting.layers), std::to_string(setting.iterations), named.name,
                      wrong ? fmt::format("WRONG from iteration {} on", *wrong) : "right", std::to_string(sent)});
    }
  }
  if (comm.rank() == 0)
    fmt::print("Tried on {} ranks, with gradients whose values are known:\n{}\n", comm.size(),
               text_table({"layers", "iterations", "exchange", "the weights are", "bytes sent"}, rows));
}

}  // namespace odori
