// SPDX-License-Identifier: Apache-2.0
#include "given.h"

#include <algorithm>
#include <string>

namespace odori::grader::large_batch {

Given given_of(const Situation& situation) {
  const RunPlan& plan = situation.plan;
  const auto flag = [&](const char* name) {
    const auto found = std::find(plan.flags.begin(), plan.flags.end(), name);
    return found == plan.flags.end() ? std::string() : *(found + 1);
  };
  Given given{
      .m = std::stoi(flag("--accumulate")),
      .ranks = plan.ranks(),
      .batch = plan.batch_size,
      .base_batch = std::stoi(flag("--base-batch")),
      .warmup_epochs = plan.trainings > 1 || flag("--only") == "warm_up" ? std::stoi(flag("--warmup-epochs")) : 0,
      .sum = flag("--gradients") == "sum",
      .base = plan.learning_rate};
  given.k = static_cast<double>(given.batch) * given.m * given.ranks / given.base_batch;
  const int n_train = static_cast<int>(situation.data().sets.train->size());
  given.updates_of_epoch = (n_train + given.ranks - 1) / given.ranks / (given.batch * given.m);
  return given;
}

bool came_to_the_last(const Situation& situation) {
  const auto& ranks = situation.evidence().ranks;
  return !ranks.empty() && ranks.front().earlier_trainings + 1 == situation.plan.trainings;
}

}  // namespace odori::grader::large_batch
