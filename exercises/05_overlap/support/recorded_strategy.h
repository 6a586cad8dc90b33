// SPDX-License-Identifier: Apache-2.0
// A learner's strategy as the kit runs it: the order of its calls is recorded for the grader, and its time is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "observe/hooks.h"
#include "overlap_support.h"

namespace odori {

inline void record_range(const char* what, Range range) {
  observe::on_event(what, {static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.end)});
}

class RecordedStrategy : public ExchangeStrategy {
 public:
  RecordedStrategy(HostStrategy& strategy, std::string name) : strategy_(strategy), name_(std::move(name)) {}

  /// Seconds spent in the strategy since the last call, while nothing was computed.
  double take_exposed_seconds() { return std::exchange(exposed_seconds_, 0); }

  void setup(ExchangeContext& context) override {
    ExchangeStrategy::setup(context);
    strategy_.setup(context);
  }
  bool wants_ready_gradients() const override { return strategy_.wants_ready_gradients(); }
  void on_gradient_ready(Range range) override {
    record_range("final", range);
    timed([&] { strategy_.on_gradient_ready(range); });
  }
  bool finish() override {
    observe::on_event("finish");
    bool updates = false;
    timed([&] { updates = strategy_.finish(); });
    strategy_.end_iteration();
    observe::on_event(updates ? "update" : "no_update");
    return updates;
  }
  std::string description(Dtype /*fp32*/) const override { return name_; }
  Buffer* pending() override { return strategy_.pending(); }
  void pending_restored(bool any) override { strategy_.pending_restored(any); }

 private:
  template <typename Call>
  void timed(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    exposed_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  HostStrategy& strategy_;
  std::string name_;
  double exposed_seconds_ = 0;
};

}  // namespace odori
