// ./odori grade --regrade: what marking again would change, and --apply: taking it.
#pragma once

#include <vector>

#include "batch/regrade.h"
#include "instructor/class_screen.h"

namespace odori::grader {

/// The table: student, task, blank, verdict and points before and after; and how many marks go up or down.
void print_changes(const std::vector<Change>& changes, const Messages& messages, ClassScreen& screen);

}  // namespace odori::grader
