// ./odori check TASK
#pragma once

#include "learner/flags.h"

namespace odori::grader {

/// Prints the verdicts as they come. Returns the exit code of grader/README.md's table.
int check(const Flags& flags);

}  // namespace odori::grader
