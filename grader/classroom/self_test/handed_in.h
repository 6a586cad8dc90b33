// SPDX-License-Identifier: Apache-2.0
// What a student hands in, written for a test.
#pragma once

#include <filesystem>

#include "classroom/self_test/answer_files.h"

namespace odori::grader {

/// Writes what the entry's text "handed in" lists into a student's folder (grader/attacks/README.md), or its program
/// and script if it lists nothing. Throws Error for a line that it can't do.
void write_handed_in(const std::filesystem::path& kit, const AnswerEntry& entry, const std::filesystem::path& folder);

}  // namespace odori::grader
