// SPDX-License-Identifier: Apache-2.0
// ./odori grade --regrade: what marking again would change, and --apply: taking it.
#pragma once

#include "classroom/class_screen.h"
#include "classroom/marking/regrade.h"
#include "classroom/reports/marks.h"

namespace odori::grader {

/// The table: student, task, blank, verdict and points before and after, and each student's total, as the reports have
/// it; and how many marks go up or down. Returns false, and prints nothing, if nothing would change.
bool print_changes(const Regrade& regrade, const Course& before_course, const Course& after_course,
                   const Messages& messages, ClassScreen& screen);

}  // namespace odori::grader
