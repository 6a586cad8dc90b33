// SPDX-License-Identifier: Apache-2.0
#include "choice.h"

#include <algorithm>

#include "files/json.h"
#include "large_batch_cases.h"

namespace odori::grader::large_batch {
namespace {

// In the first two, by each criterion another pair of trainings is the best, and by none the same position of both. The
// most accurate one is so by little, its training loss isn't small, once it is by far the slowest, and once it is the
// first, once the last. The third is the best, however bad, and worse than what was chosen before.
using Trials = std::vector<RecordedTrial>;
const std::vector<Trials> all_trials{
    {{"fixed", 930, 0.4, 0.58}, {"scaled", 880, 0.7, 0.6678}, {"fixed", 860, 1.6, 0.6}, {"warm_up", 310, 1.3, 0.668}},
    {{"fixed", 700, 1.4, 0.724}, {"warm_up", 702, 0.6, 0.6}, {"warm_up", 699, 0.3, 0.7239}, {"scaled", 690, 1.7, 0.55}},
    {{"scaled", 640, 2.31, 0}}};
constexpr std::size_t several = 2;  // batches with more than one training run

/// The position of what was chosen; none where that is none of the trainings.
std::optional<std::size_t> position_of(const std::vector<float>& seen, const Trials& trials) {
  if (seen.size() != 3) return {};
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (same(seen[0], trials[i].images_per_second) && same(seen[2], trials[i].held_out_accuracy)) return i;
  return {};
}

template <typename Value>
std::size_t best(const Trials& trials, Value value) {
  return static_cast<std::size_t>(std::ranges::max_element(trials, {}, value) - trials.begin());
}
std::size_t best(const Trials& trials) { return best(trials, &RecordedTrial::held_out_accuracy); }

}  // namespace

const RunPlan choosing{.nodes = {0},
                       .epochs = 0,
                       .shows = several + 1,
                       .test_cases = json_text(nlohmann::json(LargeBatchCases{.planned = {}, .trials = all_trials}))};

Found find_in_choice(const Situation& situation) {
  const auto& ranks = situation.evidence().ranks;
  if (situation.plan != choosing || ranks.empty()) return {};
  const auto& values = ranks.front().values;
  std::vector<std::optional<std::size_t>> chosen;
  for (std::size_t i = 0; i < std::min(values.size(), all_trials.size()); ++i)
    chosen.push_back(position_of(values[i], all_trials[i]));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Trials& trials = all_trials[i];
    const std::size_t right = best(trials);
    if (chosen[i] == right) continue;
    if (!chosen[i]) {
      const bool is_earlier = std::any_of(all_trials.begin(), all_trials.begin() + static_cast<std::ptrdiff_t>(i),
                                          [&](const Trials& earlier) { return position_of(values[i], earlier); });
      return found(is_earlier ? "chosen_of_an_earlier_batch" : "chosen_none_of_them");
    }
    const std::size_t at = 1 - i;  // of the two batches with several trainings; only of these another one can be chosen
    const Trials& others = all_trials[at];
    const std::optional<std::size_t> none;
    const std::optional<std::size_t>& other = at < chosen.size() ? chosen[at] : none;
    /// Is it what has the largest of these values, in both?
    const auto by = [&](auto value) { return chosen[i] == best(trials, value) && other == best(others, value); };
    const char* key = "choice_wrong";
    if (by([](const RecordedTrial& trial) { return trial.images_per_second; })) key = "chosen_by_throughput";
    if (by([](const RecordedTrial& trial) { return -trial.training_loss; })) key = "chosen_by_training_loss";
    if (by([](const RecordedTrial& trial) { return -trial.held_out_accuracy; })) key = "chosen_least_accurate";
    const bool both_wrong = other && other != best(others);
    if (chosen[i] == other || (both_wrong && trials[*chosen[i]].schedule == others[*other].schedule))
      key = "chosen_without_looking";
    return found(key, {{"seen", trials[*chosen[i]].schedule},
                       {"accuracy", fmt::format("{:g}", 100 * trials[*chosen[i]].held_out_accuracy)},
                       {"expected", trials[right].schedule},
                       {"best", fmt::format("{:g}", 100 * trials[right].held_out_accuracy)}});
  }
  return {};
}

}  // namespace odori::grader::large_batch
