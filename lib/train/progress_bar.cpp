// SPDX-License-Identifier: Apache-2.0
#include "train/progress_bar.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "train/terminal.h"
#include "train/trainer.h"

namespace odori {
namespace {

constexpr auto interval = std::chrono::milliseconds(200);
constexpr std::size_t n_drawings_remembered = 50;  // ten seconds' worth

std::string bar(const char* name, double rate) {
  constexpr int length = 50;
  const int marks = std::clamp(static_cast<int>(rate * length), 0, length);
  return fmt::format("{} [{:#<{}}{:.<{}}] {:5.2f}%\n", name, "", marks, "", length - marks, rate * 100);
}

std::string hours_minutes_seconds(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

std::string draw(const Progress& progress) {
  const auto& [iteration, epoch, epoch_detail, n_epochs, speed] = progress;
  const double iterations_left = iteration * (n_epochs - epoch_detail) / epoch_detail;
  return bar("     total", epoch_detail / n_epochs) + bar("this epoch", epoch_detail - std::floor(epoch_detail)) +
         fmt::format("{:10} iter, {} epoch / {} epochs\n", iteration, epoch, n_epochs) +
         fmt::format("{:10.5g} iters/sec. Estimated time to finish: {}.\n", speed,
                     hours_minutes_seconds(iterations_left / speed));
}

void ProgressBar::initialize(Trainer& trainer) {
  shown_ = on_terminal();
  history_.assign(1, {Clock::now(), trainer.updater().iteration()});
}

void ProgressBar::run(Trainer& trainer) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now - history_.back().time < interval) return;
  Updater& updater = trainer.updater();
  history_.push_back({now, updater.iteration()});
  if (history_.size() > n_drawings_remembered) history_.pop_front();
  const double seconds = std::chrono::duration<double>(now - history_.front().time).count();
  const double speed = static_cast<double>(updater.iteration() - history_.front().iteration) / seconds;
  // Cleared, drawn, and the cursor put back to its first line, where the table's next line belongs.
  fmt::print("\033[J{}\033[4A",
             draw({updater.iteration(), updater.epoch(), updater.epoch_detail(), trainer.n_epochs(), speed}));
  std::fflush(stdout);
}

void ProgressBar::finalize(Trainer&) noexcept {
  if (!shown_) return;
  std::fputs("\033[J", stdout);
  std::fflush(stdout);
}

}  // namespace odori
