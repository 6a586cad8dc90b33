// SPDX-License-Identifier: Apache-2.0
// ./odori check TASK, and the look that ./odori submit takes before it.
#pragma once

#include "learner/flags.h"

namespace odori::grader {

/// Prints the verdicts as they come. Returns the exit code of grader/README.md's table.
int check(const Flags& flags);

/// Is the task ready to be submitted, as far as its files tell? Prints what isn't: blanks left empty, a select line
/// that asks for the wrong thing. Nothing is built or run, so that it works on a login node. Returns 0 or the exit
/// code.
int ready(const Flags& flags);

}  // namespace odori::grader
