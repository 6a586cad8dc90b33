// SPDX-License-Identifier: Apache-2.0
// Mutants that are right answers too, as the author of an exercise lists them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "authoring/mutants.h"
#include "blanks/task.h"

namespace odori::grader {

/// Reads solutions/NN_NAME/equivalent.md: each heading is a reason, and below it are the changes to which it applies:
///
///     ## With one rank, a product with n is a quotient by n
///
///     ```diff
///     - return total / n;
///     + return total * n;
///     ```
///
/// Returns the reason for each change; nothing if there is no such file. Throws Error with path:line for a change
/// without a reason and for one that is listed twice.
std::map<LineChange, std::string> read_equivalents(const std::filesystem::path& path);

/// Returns the blanks of the task's solutions, by number.
std::map<int, Blank> answers_of(const std::filesystem::path& kit, const Task& task);

/// Returns a sentence for each listed change that no mutant of these answers makes, as after a rename in them.
std::vector<std::string> outdated(const std::map<LineChange, std::string>& equivalents,
                                  const std::map<int, Blank>& answers, const Task& task);

/// Returns the change as read_equivalents() reads it.
std::string as_diff(const LineChange& change);

}  // namespace odori::grader
