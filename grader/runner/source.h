// The source file of one program of an answer: the kit's program with the learner's text in some of its blanks.
#pragma once

#include <map>
#include <string>

#include "blanks/blanks.h"

namespace odori::grader {

/// One ordinary source file: `solution`, the kit's program, with the text of `learners` (by number) in place of the
/// kit's own. No text is rewritten. Added are `{}` after each of the learner's texts, so that an `if` without a
/// statement does not take the kit's next one, and a call after the last blank that tells the observer that all blanks
/// were executed (at the start of main if all blanks are above it).
///
/// To the compiler, the lines of blank 3 are "blank_3:1", "blank_3:2", ... and all others are "kit:N". So the file
/// depends on the texts alone, and what was built from it before can be used again. Throws Error if the program has no
/// line that begins with "int main(int argc, char** argv)".
std::string source_of(const std::string& solution, const std::map<int, Blank>& learners);

}  // namespace odori::grader
