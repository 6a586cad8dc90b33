// SPDX-License-Identifier: Apache-2.0
// What an exercise says, in both languages: its hints and the messages of its checks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blanks/finding.h"
#include "blanks/task.h"

namespace odori::grader {

/// Compares the sections of the English file (messages.md) with the Japanese one next to it (messages.ja.md). Returns a
/// sentence for each section that one of them lacks, that is empty, that has different placeholders, or that is not
/// translated (equal texts, code excepted).
std::vector<std::string> differences_of_languages(const std::filesystem::path& english);

/// Returns a sentence for each fault of an exercise's texts: differences of languages, other than three hints for a
/// blank, duplicate hints, missing messages, duplicate messages, messages whose key another file of the kit has too.
std::vector<std::string> faults_of_texts(const std::filesystem::path& kit, const Task& task);

/// Returns a sentence if no message has the key of a check's finding, or if that message has {placeholders} for which
/// the check gives no value; else "". Learners would read the key, or the placeholder.
std::string fault_of_message(const std::filesystem::path& kit, const Task& task, const Finding& finding);

}  // namespace odori::grader
