// ./odori watch TASK
#pragma once

#include "learner/flags.h"

namespace odori::grader {

/// Checks at once, and again after each save, in a clear screen, until q or Ctrl-C. Returns the exit code.
int watch(const Flags& flags);

}  // namespace odori::grader
