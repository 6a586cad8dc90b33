// As much of C++'s grammar as tells which words a blank's text holds, and whether it can stand beside others in one
// source file.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace odori::grader {

/// One word (identifier, number) or sign; of quotes the first character alone, of comments nothing.
struct Token {
  std::string text;
  bool first_in_line = false;  // a directive's # is
  bool is_word() const;
  bool operator==(const char* other) const { return text == other; }
};

struct Tokens {
  std::vector<Token> all;
  bool broken = false;  // a quote or a comment isn't closed: what follows it isn't among them
};

Tokens tokens_of(const std::vector<std::string>& text);

/// Every identifier and number, those in comments and strings left out.
std::set<std::string> words_in(const std::vector<std::string>& text);

/// Brackets, quotes and comments are closed within the text, in order, and it holds no directive (#include, #define)
/// and no line that goes on in the next: whatever is wrong with it, what stands behind it is read as if it weren't.
bool is_self_contained(const std::vector<std::string>& text);

}  // namespace odori::grader
