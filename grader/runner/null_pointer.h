// What the compiler's checks of null pointers say of a crash.
#pragma once

#include <optional>
#include <string>

#include "blanks/finding.h"
#include "blanks/submission.h"

namespace odori::grader {

/// `output`: what a program said that was built with BuildOptions::pointer_checks, from the source of source_of().
/// Returns the note "null_pointer", with the line of the answer that used the pointer and the type of what it should
/// point to; or "null_pointer_used" if it was used in the kit's program or in a header. Nothing if the checks saw
/// nothing.
std::optional<Finding> null_pointer_in(const std::string& output, const Submission& answer);

}  // namespace odori::grader
