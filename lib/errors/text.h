// SPDX-License-Identifier: Apache-2.0
// Splitting of texts, and conversion to integers and floats.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace odori {

/// "a,b," gives {"a", "b", ""}; an empty text gives {""}.
inline std::vector<std::string> split(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (auto end = text.find(between); end != std::string_view::npos; end = text.find(between)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

/// "a\nb\n" gives {"a", "b"}, as does "a\nb". Line ends may be CR LF.
inline std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

/// Joins the lines, each followed by "\n".
inline std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

/// Removes these characters from both ends.
inline std::string_view trim(std::string_view text, const char* unwanted = " \t") {
  const auto first = text.find_first_not_of(unwanted);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(unwanted) - first + 1);
}

/// Converts to lower case (ASCII).
inline std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

/// Replaces every `what` with `by`.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Parses a text that is one number. Returns nothing if it is not, or if the number is out of range.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

}  // namespace odori
