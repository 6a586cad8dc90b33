// SPDX-License-Identifier: Apache-2.0
// Task 4, blank 7: which of several recorded training runs is chosen.
#pragma once

#include "checks/findings.h"

namespace odori::grader::large_batch {

/// No training: the choice among invented training runs, once for each batch size, with a different right answer.
extern const RunPlan choosing;

/// What is wrong with a choice in a run of `choosing`; nothing for other plans.
Found find_in_choice(const Situation& situation);

}  // namespace odori::grader::large_batch
