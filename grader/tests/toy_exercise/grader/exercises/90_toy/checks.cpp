// The toy's checks: images an update, the weights, and what the program shows.
#include "checks/findings.h"

namespace odori::grader {
namespace {

const RunPlan one{.devices = 1, .test_cases = "7"},
    other{.devices = 1, .batch_size = 6, .learning_rate = 0.025f, .seed = 1, .test_cases = "7"};

const RankSeen& process_of(const Evidence& evidence) {
  static const RankSeen nothing;
  return evidence.ranks.empty() ? nothing : evidence.ranks.front();
}

Found find_in_batches(const Situation& situation) {
  for (const IteratorSeen& iterator : process_of(situation.evidence()).train_iterators)
    if (iterator.batch_size != situation.plan.batch_size)
      return found("toy_images", {{"seen", iterator.batch_size}, {"expected", situation.plan.batch_size}});
  return {};
}

/// What the program shows, in the order in which it does.
Found find_in_half(const Situation& situation) {
  const RankSeen& seen = process_of(situation.evidence());
  if (seen.events.empty() || seen.events.front().what != "halved" || seen.values.empty()) return {};
  if (std::to_string(seen.events.front().about.at(0)) != situation.plan.test_cases) return found("toy_case");
  const double half = static_cast<double>(seen.events.front().about.at(0)) / 2;
  if (seen.values.front() == std::vector{static_cast<float>(half)}) return {};
  return found("toy_half", {{"seen", seen.values.front().at(0)}, {"expected", half}});
}

Found find_in_weights(const Situation& situation) {
  return find_in_updates(situation, situation.plan.learning_rate == one.learning_rate ? other : one,
                         [](const Evidence& evidence) { return process_of(evidence).steps; });
}

}  // namespace

Exam exam_of_toy() {
  return {{one, other},
          {{3, "TakesTheBatch", find_in_batches},
           {2, "HalvesItsNumber", find_in_half},
           {0, "ShowsItsNumbers", find_no_values},
           {0, "TrainsToTheEnd", find_early_end},
           {4, "WeightsAreTheGraders", find_in_weights},
           {0, "EvidenceIsOfOneTraining", find_forgery}}};
}

}  // namespace odori::grader
