// SPDX-License-Identifier: Apache-2.0
// What an exercise says, in both languages: its hints and the messages of its checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blanks/task.h"

namespace odori::grader {

/// Returns a sentence for each section of the English file (messages.md) that the Japanese one (messages.ja.md next to
/// it) lacks, or has with other placeholders, with the same text (but for code), or empty; and the reverse.
std::vector<std::string> differences_of_languages(const std::filesystem::path& english);

/// Returns a sentence for each fault of an exercise's texts: differences of languages; hints that are not three for
/// each blank, or equal to another one; messages that its checks use and that do not exist, or equal to another one.
std::vector<std::string> faults_of_texts(const std::filesystem::path& kit, const Task& task);

}  // namespace odori::grader
