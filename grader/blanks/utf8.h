// SPDX-License-Identifier: Apache-2.0
// Texts in UTF-8: the grader's one reader of it, and what becomes of texts in older encodings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odori::grader {

/// The character at this place and how many bytes it takes; U+FFFD for bytes that aren't UTF-8 (overlong forms,
/// surrogates and what is beyond Unicode included), as many as can have been meant as one character.
std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at);

/// Where the character begins that the byte at this place is part of.
std::size_t begin_of_character(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

/// Its bytes. The character is below U+110000 and no surrogate.
std::string utf8(char32_t character);

/// True if a terminal shows it in two columns (Unicode Standard Annex 11, East Asian Width: Wide and Fullwidth).
bool is_wide(char32_t character);

/// From an encoding of iconv's ("CP932", "UTF-16"). Nothing if the bytes aren't that.
std::optional<std::string> to_utf8(std::string_view text, const char* encoding);

/// Each line in UTF-8. One that isn't is read as EUC-JP or Shift-JIS, the first that it can be; if neither, its bytes
/// that aren't UTF-8 become U+FFFD. Line by line, since files are pasted together.
std::vector<std::string> as_utf8(std::vector<std::string> lines);

}  // namespace odori::grader
