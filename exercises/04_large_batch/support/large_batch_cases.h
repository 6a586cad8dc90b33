// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 04, as the grader writes them and the support code reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace odori {

/// A training run whose learning rates are asked for.
struct PlannedTraining {
  int batchsize = 0, accumulate = 0, ranks = 0;  // images of a batch, batches of a rank's update, ranks
  int base_batch = 0;                            // images of the update that base_rate was found for
  double base_rate = 0;
  int updates_of_epoch = 0, warmup_epochs = 0;

  int end_of_warm_up() const { return updates_of_epoch * warmup_epochs; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedTraining, batchsize, accumulate, ranks, base_batch, base_rate,
                                   updates_of_epoch, warmup_epochs)

/// The result of a training run to choose from.
struct RecordedTrial {
  std::string schedule;
  double images_per_second = 0, training_loss = 0, held_out_accuracy = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordedTrial, schedule, images_per_second, training_loss, held_out_accuracy)

/// What ODORI_TEST_CASES holds: rates to show, or, for each of several batches, training runs to choose from.
struct LargeBatchCases {
  std::vector<PlannedTraining> planned;
  std::vector<std::vector<RecordedTrial>> trials;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LargeBatchCases, planned, trials)

}  // namespace odori
