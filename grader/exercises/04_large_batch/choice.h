// SPDX-License-Identifier: Apache-2.0
// Task 4, blank 7: which of several recorded training runs is chosen.
#pragma once

#include "checks/findings.h"

namespace odori::grader::large_batch {

/// One batch's training runs after another's.
extern const RunPlan choosing;

/// What is wrong with a choice, where the plan is this.
Found find_in_choice(const Situation& situation);

}  // namespace odori::grader::large_batch
