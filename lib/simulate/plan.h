// SPDX-License-Identifier: Apache-2.0
// The request of ./odori simulate to a training program: {"simulate": Plan} in $ODORI_TEST_CASES.
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

/// Clusters of 2, 4, 8, ... and `ranks` ranks, with `each` ranks on each node. `each` must divide `ranks`.
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
  std::string model;                    // name of the network
  double gradient_bytes = 0;            // fp32
  double batch = 1, seconds = 0;        // per device: images, and seconds of an iteration without communication
  int micro_batches = 1;                // per iteration, for pipelines
  std::map<int, double> stragglers;     // slowdown factor of compute, by rank
  bool kits_answer = false;             // the function is the kit's, not the learner's
  bool full_size = false;               // send all elements; otherwise a few, with the time of all
  std::string folder;                   // for report.json (report/simulation.h) and traces of some ranks;
                                        // empty: the curves' values are reported to the observer instead
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, clusters, model, gradient_bytes, batch, seconds, micro_batches, stragglers,
                                   kits_answer, full_size, folder)

}  // namespace odori::simulate
