// SPDX-License-Identifier: Apache-2.0
// A class for graders who should not know whose answer they read.
#pragma once

#include <string>

#include "classroom/marking/record.h"

namespace odori::grader {

/// The same answers and verdicts under `code` in place of the name. Leaves out what may show the name: flags that quote
/// files or other students, changes outside the blanks, and the timeline. What students wrote into their blanks is
/// kept.
StudentRecord anonymous(const StudentRecord& student, const std::string& code);

}  // namespace odori::grader
