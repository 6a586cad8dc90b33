// SPDX-License-Identifier: Apache-2.0
// What ./odori simulate asks of a training program: {"simulate": Plan} in $ODORI_TEST_CASES.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/cost_terms.h"

namespace odori::cost {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Link, latency, bandwidth)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Cluster, nodes, ranks_per_node, within, between)
}  // namespace odori::cost

namespace odori::simulate {

/// On 2, 4, 8, ... ranks, and on all of them: nodes of `each`, which divides `ranks`, all of them full.
inline std::vector<cost::Cluster> clusters_up_to(int ranks, int each, cost::Link within, cost::Link between) {
  std::vector<cost::Cluster> clusters;
  const auto add = [&](int n) { clusters.push_back({std::max(1, n / each), std::min(n, each), within, between}); };
  for (int n = 2; n < ranks; n *= 2)
    if (n <= each || n % each == 0) add(n);
  add(ranks);
  return clusters;
}

struct Plan {
  std::vector<cost::Cluster> clusters;  // of increasing size, for the curve; the last one is drawn
  std::string model;                    // a network of this name has the gradients, and is computed
  double gradient_bytes = 0;            // fp32
  double batch = 1, seconds = 0;        // of a device: images of an iteration, and what it takes without communication
  int micro_batches = 1;                // of an iteration, where there are any
  std::map<int, double> stragglers;     // how many times longer a rank computes
  bool full_size = false;               // send all elements; else few of them, charged as all
  std::string folder;                   // gets report.json (report/simulation.h), and traces of some ranks;
                                        // empty: the curves' values are reported to the observer instead
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, clusters, model, gradient_bytes, batch, seconds, micro_batches, stragglers,
                                   full_size, folder)

}  // namespace odori::simulate
