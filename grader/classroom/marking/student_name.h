// SPDX-License-Identifier: Apache-2.0
// Names under which students' folders are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// Makes a folder's name from the name in a submission. Letters of all languages are kept. Control characters,
/// separators, marks that change the direction of text, "~", and bytes that aren't UTF-8 become "_". A changed name
/// ends in "~" and six digits of a checksum of the original. Reads names in CP932 (archives made on a Japanese Windows)
/// as such, and joins letters and accents that macOS separates.
std::string student_name(std::string_view original);

/// The same for all names that some file system considers equal, or a reader: capitals, forms of accents and widths of
/// letters make no difference.
std::string folded(std::string_view name);

/// The names of all students, in the same order. No two are equal on a file system that ignores capitals, accents'
/// forms or widths of letters: names that would be equal end in "~" and 32 digits.
std::vector<std::string> student_names(const std::vector<std::string>& originals);

/// True for control characters, invisible characters, marks that change the direction of a text, and noncharacters.
bool is_unseen(char32_t character);

}  // namespace odori::grader
