// SPDX-License-Identifier: Apache-2.0
// What a compiler's or linker's sentence is about. GCC's and Clang's forms, in English.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blanks/finding.h"

namespace odori::grader {

/// The name that it complains isn't known; empty if it is about something else.
std::string unknown_name(std::string_view message);

/// What the commonest errors mean, in plain words: the key of a message, and the names in it. Nothing for others.
/// `notes`: what the compiler adds to the error, a line each.
std::optional<Finding> plain_words_for(const std::string& message, const std::string& notes);

}  // namespace odori::grader
