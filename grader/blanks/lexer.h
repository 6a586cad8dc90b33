// C++'s preprocessing tokens ([lex.phases], [lex.pptoken]), as a compiler sees them: which words a blank's text holds,
// and whether it can stand beside others in one source file.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"

namespace odori::grader {

/// Of C++'s names and numbers, in any locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Token {
  enum class Kind { word, number, quote, sign };
  Kind kind = Kind::sign;
  std::string text;    // as it is written; the other spellings of brackets and of # (<: %> %: ...) as those
  int line = 1;        // from 1
  std::size_t at = 0;  // where it begins in the lines, joined

  bool is_word() const { return kind == Kind::word; }
  bool operator==(const char* other) const { return text == other; }
  /// Of words with a space round each: " if for ".
  bool is_one_of(std::string_view words) const { return words.find(' ' + text + ' ') != words.npos; }
};

struct Tokens {
  std::vector<Token> all;
  /// Why what follows isn't among them: a quote or a comment that isn't closed, a character that no token begins with.
  /// Its value `line` is counted like the tokens'.
  std::optional<Finding> broken;
};

/// Reads `text`, which should be UTF-8, up to its end or the first thing that is broken. A backslash that joins two
/// lines ends no token here, except in comments: it is a sign of its own.
Tokens tokens_of(const std::vector<std::string>& text);

/// C++'s own words ([lex.key]), those with a meaning in some places alone too.
bool is_keyword(const std::string& word);
/// Those that an expression follows, as behind `return`, where a name behind a type would be declared.
bool begins_expression(const std::string& word);

/// Every identifier outside comments and quotes.
std::set<std::string> identifiers_in(const std::vector<std::string>& text);

/// The last bracket that the text opens and doesn't close; nothing if it closes all, or more than that.
std::optional<Token> unclosed_bracket(const std::vector<std::string>& text);

/// The word whose statement isn't in the text, so that it takes the next one behind it: of `for (...)` or `else` at the
/// end.
std::optional<Token> left_without_statement(const std::vector<std::string>& text);

}  // namespace odori::grader
