#include "runner/run_plan.h"

#include <fmt/core.h>

namespace odori::grader {

std::vector<std::string> flags_of(const RunPlan& plan, const std::string& data, std::uint64_t data_seed) {
  std::vector<std::string> flags{"--device", "cpu"};
  const auto add = [&](std::initializer_list<std::string> more) { flags.insert(flags.end(), more); };
  const std::string seed = std::to_string(plan.programs_seed(data_seed));
  if (plan.epochs > 0) {
    add({"--model", "tiny", "--out", "out", "--seed", seed});
    if (plan.snapshots) add({"--no_snapshot", "--keep_going"});
    add({"--dataset", data});
    add({"--epoch", std::to_string(plan.epochs), "--batchsize", std::to_string(plan.batch_size)});
    add({"--learnrate", fmt::format("{}", plan.learning_rate)});
    if (plan.nodes.empty()) add({"--n_gpus", std::to_string(plan.devices)});
  }
  if (plan.seeded) add({"--seed", seed});
  if (plan.sum) add({"--compat", "chainer"});
  if (plan.scaled) add({"--scale_learnrate", "--warmup_epochs", "1"});
  if (plan.accumulate > 1) add({"--accumulate", std::to_string(plan.accumulate)});
  flags.insert(flags.end(), plan.flags.begin(), plan.flags.end());
  return flags;
}

}  // namespace odori::grader
