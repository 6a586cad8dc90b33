#include "choice.h"

#include <algorithm>

#include "distributed/multi_node_trial.h"

namespace odori::grader::large_batch {
namespace {

RunPlan choosing(const char* trials) { return {.nodes = {0}, .epochs = 0, .shows = 1, .flags = {"--trials", trials}}; }

/// The position of what was chosen of the recorded trainings; none where that is none of them.
std::optional<std::size_t> chosen_in(const Situation& situation, const RunPlan& plan) {
  const auto& ranks = situation.runs.of(plan).ranks;
  if (ranks.empty() || ranks.front().values.empty() || ranks.front().values.front().size() != 3) return {};
  const std::vector<float>& seen = ranks.front().values.front();
  const std::vector<Trial> trials = recorded_trials(plan.flags.back());
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (same(seen[0], trials[i].images_per_second) && same(seen[2], trials[i].held_out_accuracy)) return i;
  return {};
}

}  // namespace

// By each criterion another pair of trainings is the best, and by none the same position of both. The most accurate one
// is so by little, its training loss isn't small, once it is by far the slowest, and once it is the first, once the
// last.
const RunPlan best_warmed_up =
    choosing("fixed:930:0.4:0.58,scaled:880:0.7:0.6678,fixed:860:1.6:0.6,warm_up:310:1.3:0.668");
const RunPlan best_fixed =
    choosing("fixed:700:1.4:0.724,warm_up:702:0.6:0.6,warm_up:699:0.3:0.7239,scaled:690:1.7:0.55");
// It is the best, however bad.
const RunPlan nothing_learned = choosing("scaled:640:2.31:0");

Found find_in_choice(const Situation& situation) {
  const RunPlan& plan = situation.plan;
  const auto& ranks = situation.evidence().ranks;
  if (plan.epochs > 0 || ranks.empty() || ranks.front().values.empty()) return {};
  const auto chosen = chosen_in(situation, plan);
  const auto best = [](const RunPlan& of, auto value) {
    const std::vector<Trial> trials = recorded_trials(of.flags.back());
    return static_cast<std::size_t>(std::ranges::max_element(trials, {}, value) - trials.begin());
  };
  if (chosen == best(plan, &Trial::held_out_accuracy)) return {};
  if (!chosen) return found("chosen_none_of_them");
  const RunPlan& other_plan = plan == best_fixed ? best_warmed_up : best_fixed;
  const auto other = chosen_in(situation, other_plan);
  /// Is it what has the largest of these values, in both?
  const auto by = [&](auto value) { return chosen == best(plan, value) && other == best(other_plan, value); };
  const char* key = "choice_wrong";
  if (by([](const Trial& trial) { return trial.images_per_second; })) key = "chosen_by_throughput";
  if (by([](const Trial& trial) { return -trial.training_loss; })) key = "chosen_by_training_loss";
  if (by([](const Trial& trial) { return -trial.held_out_accuracy; })) key = "chosen_least_accurate";
  const std::vector<Trial> trials = recorded_trials(plan.flags.back());
  const std::vector<Trial> others = recorded_trials(other_plan.flags.back());
  const bool both_wrong = other && other != best(other_plan, &Trial::held_out_accuracy);
  if (chosen == other || (both_wrong && trials[*chosen].schedule == others[*other].schedule))
    key = "chosen_without_looking";
  const Trial& right = trials[best(plan, &Trial::held_out_accuracy)];
  return found(key, {{"seen", trials[*chosen].schedule},
                     {"accuracy", fmt::format("{:g}", 100 * trials[*chosen].held_out_accuracy)},
                     {"expected", right.schedule},
                     {"best", fmt::format("{:g}", 100 * right.held_out_accuracy)}});
}

}  // namespace odori::grader::large_batch
