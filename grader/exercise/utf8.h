// Texts in UTF-8, and what becomes of those that were saved in one of Japan's older encodings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odori::grader {

/// The character at this place and how many bytes it takes; U+FFFD and 1 where it isn't UTF-8 (overlong forms,
/// surrogates and what is beyond Unicode included).
std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

/// Each line in UTF-8. One that isn't is read as EUC-JP or Shift-JIS, the first that it can be; if neither, its bytes
/// that aren't UTF-8 become U+FFFD. Line by line, since files are pasted together.
std::vector<std::string> as_utf8(std::vector<std::string> lines);

}  // namespace odori::grader
