// SPDX-License-Identifier: Apache-2.0
// ./odori grade --self-test: does the grader mark known answers correctly on this machine?
#pragma once

#include "classroom/grade.h"

namespace odori::grader {

/// Marks a made-up class: right, wrong and cheating answers. Prints the expected and the actual outcome of each.
/// Without
/// --all it takes one right and one wrong answer of each exercise, and the attacks on the sandbox. Returns 0 if all
/// outcomes are as expected, 1 if not, 20 if this machine has no sandbox. Throws Error on Ctrl-C.
int self_test(const GradeFlags& flags);

}  // namespace odori::grader
