// How far the training has come, below the table. After Chainer's ProgressBar.
#pragma once

#include <chrono>
#include <deque>
#include <utility>

#include "train/extension.h"

namespace odori {

/// Redrawn at most five times a second; only on a terminal, so that a job's log stays readable.
class ProgressBar : public Extension {
 public:
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return reader - 2; }
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  void finalize(Trainer& trainer) noexcept override;
  std::string name() const override { return "ProgressBar"; }

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_ = false;
  Clock::time_point last_{};
  std::deque<std::pair<Clock::time_point, long>> history_;
};

}  // namespace odori
