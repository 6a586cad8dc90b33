// SPDX-License-Identifier: Apache-2.0
// Why an instructor should look at an answer, whatever its marks are.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "blanks/blank_identifiers.h"
#include "blanks/finding.h"
#include "blanks/submission.h"
#include "checks/verdict.h"

namespace odori::grader {

/// One flag for each blank with refused text (flag_forbidden), one for each blank that was built with listed names
/// (flag_unusual), and one if answers could not be found in the files (flag_hidden). `identifiers`: of the blanks that
/// hold an answer. Learners do not see flags.
std::vector<Finding> flags_for(const std::map<int, BlankIdentifiers>& identifiers,
                               const std::vector<BlankVerdict>& verdicts);

/// "flag_outside" if a file holds commands outside its blanks that are not the kit's: in a program, lines with
/// listed_names(); in a job script, all lines but comments and directives. The grader leaves these lines out.
std::optional<Finding> flag_for(const std::vector<Change>& changes, Language language);

}  // namespace odori::grader
