// SPDX-License-Identifier: Apache-2.0
#include "blanks/utf8.h"

#include <iconv.h>

#include <algorithm>
#include <array>

namespace odori::grader {
namespace {

constexpr std::size_t longest_character = 4;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The character at this place and its bytes; no character where it isn't UTF-8.
std::pair<std::optional<char32_t>, std::size_t> next_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {U'\0', 1};
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  if (first < 0xC0 || first > 0xF7) return {std::nullopt, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t character = first & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (at + i >= text.size() || !continues(text[at + i])) return {std::nullopt, i};
    character = character << 6 | (text[at + i] & 0x3F);
  }
  constexpr std::array<char32_t, 3> least{0x80, 0x800, 0x10000};  // of two, three and four bytes
  const bool is_surrogate = character >= 0xD800 && character < 0xE000;
  if (character < least[size - 2] || character > 0x10FFFF || is_surrogate) return {std::nullopt, 1};
  return {character, size};
}

/// Controls beyond ASCII (C1), which EUC-JP's first bytes count as where no second one follows, are in no text.
bool has_c1(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    if (character >= 0x80 && character < 0xA0) return true;
    at += size;
  }
  return false;
}

std::string with_replacements(std::string_view text) {
  std::string replaced;
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    replaced += character == U'\uFFFD' ? "\uFFFD" : text.substr(at, size);
    at += size;
  }
  return replaced;
}

}  // namespace

std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto [character, size] = next_at(text, at);
  return {character.value_or(U'\uFFFD'), size};
}

std::size_t begin_of_character(std::string_view text, std::size_t at) {
  for (std::size_t back = 0; back < longest_character && back <= at; ++back) {
    if (!continues(text[at - back])) return next_at(text, at - back).second > back ? at - back : at;
  }
  return at;
}

std::string utf8(char32_t character) {
  const auto first = [&](char32_t mark, int shift) { return static_cast<char>(mark | character >> shift); };
  const auto next = [&](int shift) { return static_cast<char>(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) return {first(0, 0)};
  if (character < 0x800) return {first(0xC0, 6), next(0)};
  if (character < 0x10000) return {first(0xE0, 12), next(6), next(0)};
  return {first(0xF0, 18), next(12), next(6), next(0)};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = next_at(text, at);
    if (!character) return false;
    at += size;
  }
  return true;
}

bool is_wide(char32_t character) {
  // Runs of blocks whose characters are wide or full width, in order. Rare exceptions in them are left out.
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array ranges = {
      Range{0x1100, 0x115F},  // Hangul Jamo
      Range{0x231A, 0x231B},  // watches
      Range{0x23E9, 0x23EC},  // arrows of a player
      Range{0x2614, 0x2615},  // emoji among symbols, to U+2B55
      Range{0x2648, 0x2653},   Range{0x26BD, 0x26BE}, Range{0x2705, 0x2705}, Range{0x270A, 0x270B},
      Range{0x2728, 0x2728},   Range{0x274C, 0x274E}, Range{0x2753, 0x2757}, Range{0x2795, 0x2797},
      Range{0x2B1B, 0x2B1C},   Range{0x2B50, 0x2B55}, Range{0x2E80, 0x303E},  // CJK radicals and punctuation
      Range{0x3041, 0x3247},                                                  // kana, Bopomofo, Hangul letters
      Range{0x3250, 0x4DBF},                                                  // CJK compatibility, Han A
      Range{0x4E00, 0xA4CF},                                                  // Han, Yi
      Range{0xA960, 0xA97C},                                                  // Hangul Jamo A
      Range{0xAC00, 0xD7A3},                                                  // Hangul
      Range{0xF900, 0xFAFF},                                                  // Han compatibility
      Range{0xFE10, 0xFE19},                                                  // vertical forms
      Range{0xFE30, 0xFE6B},                                                  // CJK compatibility and small forms
      Range{0xFF01, 0xFF60},                                                  // full width forms
      Range{0xFFE0, 0xFFE6},                                                  // full width signs
      Range{0x16FE0, 0x1B2FB},                                                // Tangut, Khitan, kana supplements
      Range{0x1F18E, 0x1F18E},                                                // AB button
      Range{0x1F191, 0x1F19A},                                                // squared words
      Range{0x1F200, 0x1F320},                                                // enclosed ideographs, weather
      Range{0x1F32D, 0x1F64F},                                                // emoji
      Range{0x1F680, 0x1F6FC},                                                // transport
      Range{0x1F7E0, 0x1F7F0},                                                // coloured shapes
      Range{0x1F90C, 0x1F9FF},                                                // emoji
      Range{0x1FA70, 0x1FAFF},                                                // emoji
      Range{0x20000, 0x3FFFD},                                                // Han B and later
  };
  const auto after = std::ranges::upper_bound(ranges, character, {}, &Range::first);
  return after != ranges.begin() && character <= std::prev(after)->last;
}

std::optional<std::string> to_utf8(std::string_view text, const char* encoding) {
  const iconv_t converter = iconv_open("UTF-8", encoding);
  if (converter == reinterpret_cast<iconv_t>(-1)) return {};
  std::string bytes(text), converted(4 * text.size() + 4, '\0');
  char *in = bytes.data(), *out = converted.data();
  std::size_t in_left = bytes.size(), out_left = converted.size();
  const bool well = iconv(converter, &in, &in_left, &out, &out_left) != static_cast<std::size_t>(-1);
  iconv_close(converter);
  if (!well) return {};
  converted.resize(converted.size() - out_left);
  return converted;
}

std::vector<std::string> as_utf8(std::vector<std::string> lines) {
  const auto converted = [](const std::string& line) {
    for (const char* encoding : {"EUC-JP", "CP932"})
      if (auto text = to_utf8(line, encoding); text && !has_c1(*text)) return *text;
    return with_replacements(line);
  };
  for (std::string& line : lines)
    if (!is_utf8(line)) line = converted(line);
  return lines;
}

}  // namespace odori::grader
