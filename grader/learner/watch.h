// SPDX-License-Identifier: Apache-2.0
// ./odori watch TASK
#pragma once

#include "learner/flags.h"

namespace odori::grader {

/// Checks at once and after each save, on a cleared screen, until q or Ctrl-C. Returns the exit code.
int watch(const Flags& flags);

}  // namespace odori::grader
