// SPDX-License-Identifier: Apache-2.0
// Chooses cuDNN's plan for a pass of a convolution, within a workspace limit: the first of cuDNN's heuristics or, with
// --autotune, the fastest in measurements.
#pragma once

#include <string>

#include "backend/cuda/operation.h"

namespace odori::cuda {

struct ChosenPlan {
  ConvolutionPlanPtr plan;
  std::string line;  // for reports: the plan, the reason, and its cost
};

/// Returns the choice of setup.algorithms if it contains the case; otherwise measures if AlgorithmTable::measure is
/// set, or else uses cuDNN's heuristics. Stores the choice in the table: another one would give other bits.
ChosenPlan choose_plan(const Setup& setup, const ConvolutionCase& which);

}  // namespace odori::cuda
