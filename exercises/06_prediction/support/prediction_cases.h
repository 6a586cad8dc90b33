// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 06, as the grader writes them and the support code reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace odori {

/// A prediction to make: the networks' names, images of an epoch and of an iteration, the cluster, and two measured
/// iterations. ODORI_TEST_CASES holds an array of these.
struct PredictionCase {
  std::string network, other;
  int images = 0, batch = 1, per_node = 1;
  std::string within, between;  // nodes: "10gbit,50us"
  double small_batch = 0, small_seconds = 0, large_batch = 0, large_seconds = 0;
  int percent = 10;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PredictionCase, network, other, images, batch, per_node, within, between,
                                   small_batch, small_seconds, large_batch, large_seconds, percent)

}  // namespace odori
