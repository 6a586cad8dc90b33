// SPDX-License-Identifier: Apache-2.0
// What somebody probably meant who wrote a word that doesn't exist.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace odori {

/// Of `known`, the words nearest to this one, at most three; none if it resembles none of them. Case, dashes and
/// underscores make no difference, a part of a word is near to the whole ("multi"), and so are some letters too many,
/// too few, wrong or exchanged. lib/flags/command_line.sh does the same for scripts.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// Letters to insert, leave out or replace, and neighbours to exchange, that make one word of another (the optimal
/// string alignment of Damerau and Levenshtein).
std::size_t slips(std::string_view a, std::string_view b);

}  // namespace odori
