// SPDX-License-Identifier: Apache-2.0
// ./odori grade --self-test: does the grader hold on this machine?
#pragma once

#include "classroom/grade.h"

namespace odori::grader {

/// Marks one class of right, wrong and cheating answers, and prints a line for each: what it had to get, and what it
/// got. Returns 0 if the grader holds, 1 if it doesn't, 20 if this machine has no sandbox. Throws Error on Ctrl-C.
int self_test(const GradeFlags& flags);

}  // namespace odori::grader
