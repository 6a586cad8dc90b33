// Task 4, blank 7: which of several recorded trainings is chosen.
#pragma once

#include "checks/findings.h"

namespace odori::grader::large_batch {

extern const RunPlan best_warmed_up, best_fixed, nothing_learned;

/// What is wrong with the choice, where the plan is one of these.
Found find_in_choice(const Situation& situation);

}  // namespace odori::grader::large_batch
