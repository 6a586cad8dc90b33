// SPDX-License-Identifier: Apache-2.0
#include "checks/simulated.h"

#include <cmath>

#include "comm/cost.h"
#include "files/json.h"

namespace odori::grader {

std::optional<Simulated> simulate_whole(Runs& whole, RunPlan start, simulate::Plan plan) {
  constexpr int most_ranks = 1024, each = 8;
  plan.clusters =
      simulate::clusters_up_to(most_ranks, each, cost::link_from("200gbit,2us"), cost::link_from("100gbit,5us"));
  start.nodes = {0};
  start.test_cases = json_text(nlohmann::json{{"simulate", plan}});
  start.most_values = plan.clusters.size();
  const Evidence& evidence = whole.of(start);
  if (evidence.ending != Ending::finished || evidence.ranks.empty()) return {};
  Simulated simulated;
  for (const cost::Cluster& cluster : plan.clusters) simulated.ranks.push_back(cluster.ranks());
  for (const std::vector<float>& values : evidence.ranks.front().values) {
    if (values.size() != simulated.ranks.size()) return {};
    auto& curve = simulated.curves.emplace_back();
    // Four digits, as the program prints them.
    for (const double value : values) curve.emplace_back(std::stod(fmt::format("{:.4g}", value)));
  }
  return simulated;
}

}  // namespace odori::grader
