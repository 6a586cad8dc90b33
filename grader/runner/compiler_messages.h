// What a compiler's or linker's sentence is about. GCC's and Clang's forms, in English.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"

namespace odori::grader {

/// What stands in 'quotes', in order; of a quote that isn't closed nothing.
std::vector<std::string_view> quoted_in(std::string_view message);

/// The name that it complains isn't known; empty if it is about something else.
std::string unknown_name(std::string_view message);

/// What the commonest errors mean, in plain words: the key of a message, and the names in it. Nothing for others.
/// `notes`: what the compiler adds to the error, a line each.
std::optional<Finding> plain_words_for(std::string_view message, std::string_view notes);

}  // namespace odori::grader
