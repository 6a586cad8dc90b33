// SPDX-License-Identifier: Apache-2.0
#include "blanks/utf8.h"

#include <gtest/gtest.h>
#include <iconv.h>

#include <random>

using namespace odori::grader;

namespace {

bool is_surrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

/// As the C library has it, which takes no character beyond Unicode only where it writes UTF-16.
bool is_valid(std::string text) {
  const iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
  std::string converted(4 * text.size() + 4, '\0');
  char *in = text.data(), *out = converted.data();
  std::size_t in_left = text.size(), out_left = converted.size();
  const bool well = iconv(converter, &in, &in_left, &out, &out_left) != static_cast<std::size_t>(-1);
  iconv_close(converter);
  return well;
}

TEST(Utf8, EveryCharacterIsReadAsItWasWritten) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (is_surrogate(c)) continue;
    const std::string text = utf8(c) + "x";
    ASSERT_EQ(character_at(text, 0), (std::pair{c, text.size() - 1})) << std::hex << static_cast<unsigned>(c);
    for (std::size_t at = 0; at + 1 < text.size(); ++at) ASSERT_EQ(begin_of_character(text, at), 0u);
    ASSERT_EQ(begin_of_character(text, text.size() - 1), text.size() - 1);
  }
}

TEST(Utf8, WhatTheCLibraryRefusesIsRefused) {
  std::mt19937 random(7);
  // Bytes at the borders of what may stand in a character, more often than others.
  const std::string bytes("\x00\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE3\xED\xEF\xF0\xF1\xF4\xF5\xFF", 21);
  int n_valid = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % 4; text.size() < n;) text += bytes[random() % bytes.size()];
    const bool valid = is_valid(text);
    n_valid += valid ? 1 : 0;
    ASSERT_EQ(is_utf8(text), valid) << testing::PrintToString(text);
  }
  EXPECT_GT(n_valid, 1000);
}

TEST(Utf8, BytesThatCanHaveBeenMeantAsOneCharacterAreReplacedByOne) {
  EXPECT_EQ(as_utf8({"a\xF0\x9F\x98"}), std::vector<std::string>{"a\uFFFD"});          // the fourth byte is missing
  EXPECT_EQ(character_at("\xED\xA0\x80", 0), (std::pair{U'\uFFFD', std::size_t{1}}));  // a surrogate
  EXPECT_EQ(character_at("\xC0\xAF", 0), (std::pair{U'\uFFFD', std::size_t{1}}));      // an overlong slash
}

TEST(Utf8, WideCharactersAreThoseThatTakeTwoColumns) {
  for (const char32_t c : U"あア漢。「（Ａ한✅❌😀🚀𠀋") {
    if (c != 0) EXPECT_TRUE(is_wide(c)) << std::hex << static_cast<unsigned>(c);
  }
  for (const char32_t c : U"aé“—…→ｱ±Ω○│█") EXPECT_FALSE(is_wide(c)) << std::hex << static_cast<unsigned>(c);
}

}  // namespace
