// Why an instructor should look at an answer, whatever its marks are.
#pragma once

#include <map>
#include <vector>

#include "checks/verdict.h"
#include "exercise/blank_identifiers.h"
#include "exercise/finding.h"

namespace odori::grader {

/// A flag for each blank that holds what none may (flag_forbidden), that hides a name of the library's from the lines
/// below it (flag_name), or that was built with names which no answer needs (flag_unusual), and one flag if answers
/// couldn't be found in the files (flag_hidden). `identifiers`: of the blanks that hold an answer. Learners don't see
/// flags.
std::vector<Finding> flags_for(const std::map<int, BlankIdentifiers>& identifiers,
                               const std::vector<BlankVerdict>& verdicts);

}  // namespace odori::grader
