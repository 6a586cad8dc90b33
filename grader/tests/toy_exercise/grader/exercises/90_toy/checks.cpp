// The toy's checks: images an update, and the weights.
#include "checks/findings.h"

namespace odori::grader {
namespace {

const RunPlan one{.devices = 1}, other{.devices = 1, .batch_size = 6, .learning_rate = 0.025f, .seed = 1};

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

Found find_in_weights(const Situation& situation) {
  return find_in_updates(situation, situation.plan.learning_rate == one.learning_rate ? other : one,
                         [](const Evidence& evidence) { return process_of(evidence).steps; });
}

}  // namespace

Exam exam_of_toy() {
  return {{one, other},
          {{3, "TakesTheBatch", find_in_batches},
           {0, "TrainsToTheEnd", find_early_end},
           {4, "WeightsAreTheGraders", find_in_weights},
           {0, "EvidenceIsOfOneTraining", find_forgery}}};
}

}  // namespace odori::grader
