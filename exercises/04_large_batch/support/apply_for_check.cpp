// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "large_batch_cases.h"
#include "large_batch_support.h"
#include "observe/hooks.h"
#include "report/table.h"
#include "test_cases.h"

namespace odori {
namespace {

void report(const std::vector<float>& values) { observe::on_values(values); }

/// Rank 0 prints a table of the rates. For each training run, the grader receives the last rate for the sum of all
/// batches' gradients, and the rates of all updates until the second one after the warm-up.
void show_rates(const std::vector<PlannedTraining>& planned, const LargeBatchRules& rules, const Communicator& comm) {
  std::vector<TableRow> rows;
  for (const PlannedTraining& p : planned) {
    const double k = rules.batch_factor(p.batchsize, p.accumulate, p.ranks, p.base_batch);
    const double scaled = rules.scaled_rate(p.base_rate, k);
    const int n = p.accumulate * p.ranks, end = p.end_of_warm_up();
    std::vector<double> rates;
    for (int update = 0; update < end + 2; ++update)
      rates.push_back(rules.warmed_up(p.base_rate, scaled, update, p.updates_of_epoch, p.warmup_epochs));
    const double of_sum = rules.rate_for_sum(rates.back(), n);
    std::vector<float> values{static_cast<float>(of_sum)};
    for (const double rate : rates) values.push_back(static_cast<float>(rate));
    report(values);
    const auto of = [&](int update) { return fmt::format("{:.6g}", rates[static_cast<std::size_t>(update)]); };
    rows.push_back({std::to_string(p.batchsize * n), fmt::format("{:.6g}", k), of(0), of(end / 2), of(end),
                    fmt::format("{:.6g}", of_sum)});
  }
  if (comm.rank() != 0 || rows.empty()) return;
  fmt::print("{}", text_table({"images of an update", "times the base batch", "first rate", "half-way", "after warm-up",
                               "for a sum"},
                              rows));
}

/// Reports what is chosen of each batch's training runs.
void show_choices(const std::vector<std::vector<RecordedTrial>>& batches, const LargeBatchRules& rules,
                  const Communicator& comm) {
  for (const std::vector<RecordedTrial>& of_batch : batches) {
    std::vector<Trial> trials;
    for (const RecordedTrial& recorded : of_batch)
      trials.push_back({.schedule = recorded.schedule,
                        .images_per_second = recorded.images_per_second,
                        .training_loss = recorded.training_loss,
                        .held_out_accuracy = recorded.held_out_accuracy});
    const Trial chosen = rules.choose(trials);
    report({static_cast<float>(chosen.images_per_second), static_cast<float>(chosen.training_loss),
            static_cast<float>(chosen.held_out_accuracy)});
    if (comm.rank() == 0) fmt::print("Chosen: {}\n", chosen.schedule);
  }
}

}  // namespace

bool apply_for_check(const LargeBatchRules& rules, const Communicator& comm) {
  if (test_cases().is_null()) return false;
  const auto cases = test_cases().get<LargeBatchCases>();
  show_rates(cases.planned, rules, comm);
  show_choices(cases.trials, rules, comm);
  return true;
}

}  // namespace odori
