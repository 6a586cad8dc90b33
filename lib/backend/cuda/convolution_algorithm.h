// SPDX-License-Identifier: Apache-2.0
// Which of cuDNN's plans a convolution's pass uses: the one that its heuristics expect to be the fastest, or the one
// that was the fastest when tried, within a limit of workspace. The seeds' autotune.
#pragma once

#include <string>

#include "backend/cuda/operation.h"

namespace odori::cuda {

struct ChosenPlan {
  ConvolutionPlanPtr plan;
  std::string line;  // for people: the plan, why it was chosen, and what it takes
};

/// By the table of algorithms if the case is in it, by measuring if the table says so, else by cuDNN's heuristics. The
/// table then holds the choice: another one would give other bits.
ChosenPlan choose_plan(const Setup& setup, const ConvolutionCase& which);

}  // namespace odori::cuda
