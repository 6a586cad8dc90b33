// SPDX-License-Identifier: Apache-2.0
// The training loop. After Chainer's Trainer.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "train/extension.h"
#include "train/updater.h"

namespace odori {

class Trainer {
 public:
  /// Trains for n_epochs, and writes into the folder `out`, which is created if needed. Throws Error if it cannot be
  /// written. `keep_going`: continue although the loss is not finite.
  Trainer(Updater& updater, int n_epochs, std::string out, bool keep_going = false);

  void extend(std::unique_ptr<Extension> extension);
  /// trainer.extend(LogReport());
  template <typename E>
  requires std::is_base_of_v<Extension, E>
  void extend(E extension) { extend(std::unique_ptr<Extension>(std::make_unique<E>(std::move(extension)))); }

  /// Trains until the last epoch has ended. Call it once. Rethrows exceptions of updates and extensions. Throws Error
  /// with exit_code::interrupted, which says how to resume, after Ctrl-C, between two iterations; with
  /// exit_code::diverged after an epoch whose loss is not finite; and if another run writes into the same folder. Omit
  /// `site`: it is for messages about ranks that wait.
  void run(std::source_location site = std::source_location::current());

  Updater& updater() { return updater_; }
  int n_epochs() const { return n_epochs_; }
  const std::string& out() const { return out_; }
  /// Iterations of run() so far, without those before a resume.
  std::int64_t updates() const { return updater_.iteration() - first_iteration_; }
  /// Seconds of run() so far, including those before a resume.
  double elapsed_time() const;
  /// Values of the current iteration by name ("validation/main/loss"), which extensions write and read.
  std::map<std::string, double>& observation() { return observation_; }
  const std::vector<std::unique_ptr<Extension>>& extensions() const { return extensions_; }
  void set_elapsed_before(double seconds) { elapsed_before_ = seconds; }
  /// The folder of the last complete snapshot. Empty: none.
  void set_last_snapshot(const std::string& path) { last_snapshot_ = path; }
  /// A sentence for a run that stops early: the last complete snapshot, and how to resume from it.
  std::string way_on() const;

 private:
  using Clock = std::chrono::steady_clock;
  void iterate();
  void run_extensions(bool is_new_epoch);
  [[noreturn]] void stop_interrupted();
  void require_finite_loss() const;

  Updater& updater_;
  int n_epochs_;
  std::string out_;
  bool keep_going_;
  std::vector<std::unique_ptr<Extension>> extensions_;
  std::map<std::string, double> observation_;
  std::optional<Clock::time_point> start_, end_;
  double elapsed_before_ = 0;
  std::int64_t first_iteration_ = 0;
  std::string last_snapshot_;
};

}  // namespace odori
