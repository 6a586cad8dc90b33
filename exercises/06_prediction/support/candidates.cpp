// SPDX-License-Identifier: Apache-2.0
// The algorithms that exercise 06 chooses from, with the times of lib/comm/cost.h.
#include <algorithm>

#include "comm/cost.h"
#include "prediction_support.h"

namespace odori {

std::vector<Candidate> candidates_for(const Given& given, int n,
                                      const std::function<double(int n, double bytes, const cost::Link& wire)>& ring) {
  const auto of_cost = [&](const std::string& name) {
    return Candidate{name, [=](int devices, double bytes) {
                       const int in_node = std::min(devices, given.per_node);
                       const cost::Cluster cluster{devices / in_node, in_node, given.within, given.between};
                       return cost::all_reduce(name, cluster, {.bytes = bytes}).value();
                     }};
  };
  std::vector<Candidate> candidates{
      {"ring", [=](int devices, double bytes) { return ring(devices, bytes, given.wire(devices)); }}, of_cost("tree")};
  if (n > given.per_node && given.per_node > 1) candidates.push_back(of_cost("hierarchical"));
  std::ranges::rotate(candidates, candidates.begin() + n % static_cast<int>(candidates.size()));
  return candidates;
}

}  // namespace odori
