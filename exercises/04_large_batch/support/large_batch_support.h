// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 04: compares training runs with several batches and schedules.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "train/extension.h"
#include "train/standard_updater.h"

namespace odori {

/// A StandardUpdater in which a function computes the gradients and the rate of each update. The function must call
/// average_over_ranks(), since the optimizer exchanges nothing, and use() last.
class LargeBatchUpdater : public StandardUpdater {
 public:
  /// All ranks' models begin with the same weights: give them the same seed. Throws Error as StandardUpdater does.
  LargeBatchUpdater(SerialIterator iterator, Optimizer& optimizer, Communicator& comm,
                    std::function<void(LargeBatchUpdater&)> make_gradients);

  /// Elements of a gradient, in host memory.
  std::size_t n_gradients() { return model().memory().gradients.size(); }
  /// Returns the mean gradient of this rank's next batch.
  std::vector<float> next_gradients();
  /// Replaces each element by its mean over all ranks: one all-reduce. Collective.
  void average_over_ranks(std::span<float> gradients);
  /// Updates by these gradients, at this learning rate.
  void use(std::span<const float> gradients, double rate);

 protected:
  void compute_gradients() override;

 private:
  void require_length(std::size_t n, const char* call);

  Communicator& comm_;
  std::function<void(LargeBatchUpdater&)> make_gradients_;
  int n_batches_ = 0;  // of this update, so far
};

/// The result of a training run.
struct Trial {
  std::string schedule;  // "fixed", "scaled" or "warm_up"
  int batch = 0;         // images of an update, of all ranks
  double images_per_second = 0;
  double training_loss = 0;      // of the last epoch
  double held_out_accuracy = 0;  // on images not trained on, after the last epoch

  struct Epoch {
    double seconds = 0, held_out_accuracy = 0;
  };
  std::vector<Epoch> epochs = {};  // seconds since the start of the run

  /// Returns the seconds until the end of the first epoch with this accuracy; below 0 if no epoch has it.
  double seconds_to(double accuracy) const;
};

/// Writes the results of a training run into `trial`, which must outlive it.
class TrialReport : public Extension {
 public:
  explicit TrialReport(Trial& trial) : trial_(&trial) {}
  void run(Trainer& trainer) override;
  std::string name() const override { return "TrialReport"; }

 private:
  Trial* trial_;
};

/// The functions of the exercise.
struct LargeBatchRules {
  std::function<double(int batchsize, int accumulate, int ranks, int base_batch)> batch_factor;
  std::function<double(double base_rate, double k)> scaled_rate;
  std::function<double(double base_rate, double scaled, int update, int updates_of_epoch, int warmup_epochs)> warmed_up;
  std::function<double(double rate, int n)> rate_for_sum;
  std::function<Trial(const std::vector<Trial>&)> choose;  // of the training runs of one batch
};

/// Applies the rules to what ./odori check asks for and returns true. Returns false if it asks for nothing. Nothing is
/// trained.
bool apply_for_check(const LargeBatchRules& rules, const Communicator& comm);

/// Which training runs to compare.
struct TrialOptions {
  int largest = 1;   // m = 1, 4, 16, ... up to this
  std::string only;  // one schedule, with m = largest alone; empty: all of them
  int warmup_epochs = 0;
  int epochs = 0;
  std::string out;  // folder of figure.html and trials.json
};

/// Trains with m batches of each rank an update, by each schedule. Rank 0 prints the results, the choice of each batch,
/// and when each run had 90 % of the best accuracy. It draws the accuracies by batch, next to the stored results of the
/// exercise. Collective.
void compare_trials(const std::function<Trial(const std::string& schedule, int m)>& train, const LargeBatchRules& rules,
                    const TrialOptions& options, const Communicator& comm);

}  // namespace odori
