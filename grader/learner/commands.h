// SPDX-License-Identifier: Apache-2.0
// ./odori status, reset, solution. Each returns an exit code.
#pragma once

#include "learner/flags.h"

namespace odori::grader {

/// Verdicts and points so far, of one task or of both; nothing is run.
int status(const Flags& flags);

/// Puts the pristine exercise back, or one blank of it; what was there is kept, and where is said.
int reset(const Flags& flags);

/// Shows the kit's answer: after a pass, or after a clear "yes, show me".
int solution(const Flags& flags);

/// The first blank whose last verdict isn't PASS; nothing if all are right.
std::optional<int> first_not_right(const Flags& flags);

}  // namespace odori::grader
