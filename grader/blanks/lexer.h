// SPDX-License-Identifier: Apache-2.0
// The tokens of C++ texts as far as the grader needs them: the words and brackets outside comments and quotes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"

namespace odori::grader {

/// In any locale, unlike std::isdigit and std::isalpha.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Token {
  enum class Kind { word, sign, other };  // other: a number, or something in quotes
  Kind kind = Kind::sign;
  std::string text;  // a sign is one character, ::, << or ...; a digraph (<: %> %: ...) is the sign that it stands for
  int line = 1;      // from 1
  std::size_t at = 0;  // where it begins in the lines, joined

  bool is_word() const { return kind == Kind::word; }
  bool operator==(const char* other) const { return text == other; }
  /// `words` have a space around each: " if for ".
  bool is_one_of(std::string_view words) const { return words.find(' ' + text + ' ') != words.npos; }
};

struct Tokens {
  std::vector<Token> all;
  /// Why what follows is missing: a quote or a comment that is not closed, a character that begins no token. Its value
  /// `line` counts as the tokens' do.
  std::optional<Finding> broken;
};

/// Reads `text`, in UTF-8, up to its end or the first thing that is broken. Finds every word that a compiler finds. A
/// backslash that joins two lines is a sign of its own, except in comments.
Tokens tokens_of(const std::vector<std::string>& text);

/// Every identifier outside comments and quotes.
std::set<std::string> identifiers_in(const std::vector<std::string>& text);

/// The last bracket that the text opens and does not close; nothing if it closes all, or another one.
std::optional<Token> unclosed_bracket(const std::vector<std::string>& text);

/// The bracket that closes this one; 0 if the token is no opening bracket.
char closing_bracket(const Token& token);

}  // namespace odori::grader
