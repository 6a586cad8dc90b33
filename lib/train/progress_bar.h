// SPDX-License-Identifier: Apache-2.0
// Shows the progress of training below the table. After Chainer's ProgressBar.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "train/extension.h"

namespace odori {

/// The progress of training.
struct Progress {
  std::int64_t iteration = 0;
  std::int64_t epoch = 0;   // completed epochs
  double epoch_detail = 0;  // including the fraction of the current one
  int n_epochs = 1;
  double iterations_per_second = 0;
};
/// The four lines of Chainer's ProgressBar.
std::string draw(const Progress& progress);

/// Redraws at most five times per second, and only on a terminal, so that job logs remain readable.
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
  struct Moment {
    Clock::time_point time;
    std::int64_t iteration;
  };
  bool shown_ = false;
  std::deque<Moment> history_;  // the last drawings: the speed is measured over these
};

}  // namespace odori
