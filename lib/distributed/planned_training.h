// Trainings to come: which rates the rules of task 4 give them, before any machine is spent on one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace odori {

struct PlannedTraining {
  int batchsize = 0, accumulate = 0, ranks = 0;  // images of a batch, batches of a rank's update, ranks
  int base_batch = 0;                            // images of the update that base_rate was found for
  double base_rate = 0;
  int updates_of_epoch = 0, warmup_epochs = 0;

  int end_of_warm_up() const { return updates_of_epoch * warmup_epochs; }
};

/// "32:4:2:16:0.05:390:5,...": the numbers of each in the order above. Throws UsageError for another text, for more
/// than a billion images an update, and for a warm-up of more than 10,000 updates.
std::vector<PlannedTraining> planned_trainings(const std::string& text);

/// What gives a training its rates: the functions of task 4.
struct RateRules {
  std::function<double(int batchsize, int accumulate, int ranks, int base_batch)> batch_factor;
  std::function<double(double base_rate, double k)> scaled_rate;
  std::function<double(double base_rate, double scaled, int update, int updates_of_epoch, int warmup_epochs)> warmed_up;
  std::function<double(double rate, int n)> rate_for_sum;
};

/// Rank 0 prints a table of their rates. The grader gets, of each training, the last rate for the sum of all batches'
/// gradients, and the rates of all updates until the second one after the warm-up.
void show_rates(const std::vector<PlannedTraining>& planned, const RateRules& rules, const Communicator& comm);

}  // namespace odori
