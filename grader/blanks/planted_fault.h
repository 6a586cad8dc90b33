// SPDX-License-Identifier: Apache-2.0
// A blank that the learner is given as a whole program with a fault, instead of PUT_YOUR_CODE. The solution holds the
// repaired program, and the fault in comments:
//
//   // FAULT: if (rank == 0) loss = comm->all_reduce_mean(loss);
//   loss = comm->all_reduce_mean(loss);
//   // END FAULT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/blanks.h"

namespace odori::grader {

struct PlantedFault {
  std::vector<std::string> given;  // the text that the exercise has: the faulty lines in place of their repair
  std::vector<bool> is_repair;     // for each line of the solution's text: is it between FAULT and END FAULT?
};

/// Reads the FAULT lines of a solution's blank. Each stands for one line of the exercise, with the comment's
/// indentation; an empty one stands for none. Returns nothing if the blank has no FAULT line. Throws Error with
/// path:line for marks that do not match, and for a faulty text that is refused in answers or has the same tokens as
/// its repair.
std::optional<PlantedFault> planted_fault_of(const Blank& blank, const std::string& path);

/// True if the comment is one of the marks "FAULT: ..." and "END FAULT".
bool is_fault_mark(std::string_view comment);

}  // namespace odori::grader
