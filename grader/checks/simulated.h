// SPDX-License-Identifier: Apache-2.0
// An answer that is right, on up to 1,024 simulated ranks in one process: a curve for the learner, and no verdict.
#pragma once

#include <optional>
#include <vector>

#include "checks/checks.h"
#include "simulate/plan.h"

namespace odori::grader {

/// On nodes of 8 ranks: 100 Gbit/s and 5 us between them, 200 Gbit/s and 2 us within, as ./odori simulate has them.
struct Simulated {
  std::vector<double> ranks;                               // 2, 4, ..., 1024
  std::vector<std::vector<std::optional<double>>> curves;  // of the exercise's report, one value for each of `ranks`

  template <typename Curve>
  const std::vector<std::optional<double>>& of(Curve curve) const {
    return curves[static_cast<std::size_t>(curve)];
  }
};

/// Runs the program once, started as by `start`, with this plan but for its clusters. Returns nothing if that failed,
/// as it does for an answer that keeps a rank's values in static variables.
std::optional<Simulated> simulate_whole(Runs& whole, RunPlan start, simulate::Plan plan);

}  // namespace odori::grader
