// SPDX-License-Identifier: Apache-2.0
// Texts made of what readers of C++ and of job scripts stumble over.
#pragma once

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace odori::grader {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
}

/// Whole tokens and comments.
inline constexpr auto whole_pieces = std::to_array<std::string_view>({"a",
                                                                      "x9",
                                                                      "_b",
                                                                      "R",
                                                                      "u8",
                                                                      "L",
                                                                      "e",
                                                                      "p",
                                                                      "1",
                                                                      "0x1F",
                                                                      "1'000",
                                                                      "1.e+5",
                                                                      "0x1p-3",
                                                                      ".5f",
                                                                      "1'0e5",
                                                                      "0x1'e",
                                                                      "1..2",
                                                                      "1.e",
                                                                      "\"s\"",
                                                                      "\"a\\\"b\"",
                                                                      "\"\\\\\"",
                                                                      "\"//\"",
                                                                      "\"/*\"",
                                                                      "\"\\u0041\"",
                                                                      "\"?\?/\"",
                                                                      "'c'",
                                                                      "'\\''",
                                                                      "'\"'",
                                                                      "u8\"s\"",
                                                                      "L'c'",
                                                                      "\"s\"_x",
                                                                      "'c'_x",
                                                                      "\"\u8868\u793A \\\u8868\"",
                                                                      "R\"(\u8868\\)\"",
                                                                      "R\"(a)\"",
                                                                      "R\"x(\")\")x\"",
                                                                      "u8R\"(\\\n\")\"",
                                                                      "LR\"-(\n//)-\"",
                                                                      "/* c */",
                                                                      "/* ' \" */",
                                                                      "/* \\\n */",
                                                                      "/* a\n' */",
                                                                      "/* *\\\n/",
                                                                      "// c\n",
                                                                      "// ' \"\n",
                                                                      "// \\\n c\n",
                                                                      "// \\ \t\n c\n",
                                                                      "// /*\n",
                                                                      "\u30A2",
                                                                      "\u540D\u524D",
                                                                      "\u00E9",
                                                                      " ",
                                                                      "\n",
                                                                      "\t"});

/// Parts of them, signs, and what belongs to no text.
inline constexpr auto loose_pieces = std::to_array<std::string_view>(
    {"'",      "\"",     "\\",     "\\\n",    "\\ \n",       "\\\v\n",
     "\\\f\n", "\\\r\n", "//",     "/*",      "*/",          "*",
     "/",      "R\"(",   ")\"",    "R\"x(",   ")x\"",        "R\"",
     "u8R\"",  "(",      ")",      "[",       "]",           "{",
     "}",      "<",      ">",      "<:",      ":>",          "<%",
     "%>",     "%:",     "%:%:",   "<::",     "<:::",        "::>",
     "<<:",    "->",     "->*",    "...",     "..",          ".",
     ".*",     "<=>",    ">>=",    "++",      "--",          "+",
     "-",      "&&",     "=",      ":",       "::",          "?",
     "?\?/",   "?\?'",   "?\?=",   "\\u0041", "\\U00000041", "\\N{LATIN SMALL LETTER A}",
     "\v",     "\f",     "\r",     "\x01",    "\x1B",        "\x7F",
     "\u3000", "\uFF08", "\u200B", "\uFEFF",  "\xE3\x81",    "\x83\x5C",
     "$",      "#"});

/// Up to `most` of them, one after the other; `loose` of ten from the second list.
inline std::string text_of_pieces(Random& random, std::size_t most, std::size_t loose) {
  std::string text;
  for (std::size_t n = 1 + below(random, most); n > 0; --n)
    text += below(random, 10) < loose ? loose_pieces[below(random, loose_pieces.size())]
                                      : whole_pieces[below(random, whole_pieces.size())];
  return text;
}

}  // namespace odori::grader
