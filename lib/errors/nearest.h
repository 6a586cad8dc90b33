// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelled words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace odori {

/// Returns the words of `known` nearest to `word`, at most three; none if it resembles none of them. Ignores case,
/// hyphens and underscores. Near are words of which one contains the other, and those at a small slips() distance.
/// lib/flags/command_line.sh does the same for scripts.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// Edit distance: the letters to insert, delete or replace, and adjacent letters to swap, that turn one word into the
/// other (optimal string alignment: F. Damerau, 1964, "A technique for computer detection and correction of spelling
/// errors").
std::size_t slips(std::string_view a, std::string_view b);

}  // namespace odori
