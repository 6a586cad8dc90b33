// SPDX-License-Identifier: Apache-2.0
// Why an instructor should look at an answer, whatever its marks are.
#pragma once

#include <map>
#include <vector>

#include "blanks/blank_identifiers.h"
#include "blanks/finding.h"
#include "checks/verdict.h"

namespace odori::grader {

/// One flag for each blank with refused text (flag_forbidden), one for each blank that was built with listed names
/// (flag_unusual), and one if answers could not be found in the files (flag_hidden). `identifiers`: of the blanks that
/// hold an answer. Learners do not see flags.
std::vector<Finding> flags_for(const std::map<int, BlankIdentifiers>& identifiers,
                               const std::vector<BlankVerdict>& verdicts);

}  // namespace odori::grader
