// SPDX-License-Identifier: Apache-2.0
// What the checks of exercise 12 try the answers with.
#pragma once

#include <vector>

#include "runner/run_plan.h"

namespace odori::grader::asynchronous {

/// The functions alone, and the example of the slides; workers of different speeds; quadratics.
const std::vector<RunPlan>& plans();

/// The last plan's: constant staleness 0, 1 and 2, and 2 with the rate divided by it.
inline constexpr double quadratic_rate = 0.8;
inline constexpr int quadratic_updates = 30;

}  // namespace odori::grader::asynchronous
