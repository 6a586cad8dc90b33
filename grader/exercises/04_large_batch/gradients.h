// SPDX-License-Identifier: Apache-2.0
// Task 4, blanks 5 and 6: the weights after each update, and how often ranks exchange gradients.
#pragma once

#include "checks/findings.h"

namespace odori::grader::large_batch {

/// What is wrong with the sum of a rank's batches.
Found find_in_total(const Situation& situation);
/// What is wrong with the mean over all ranks' batches (blank 6).
Found find_in_mean(const Situation& situation);
/// Any other wrong weights, whichever blank caused them.
Found find_other_weights(const Situation& situation);

}  // namespace odori::grader::large_batch
