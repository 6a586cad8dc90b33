#include "exercise/library_names.h"

#include <algorithm>
#include <cctype>

#include "exercise/declarations.h"
#include "exercise/lexer.h"

namespace odori::grader {
namespace {

/// What is called in classes that have a base.
std::set<std::string> called_in_derived_classes(const std::vector<std::string>& lines) {
  std::set<std::string> called;
  const std::vector<Token> tokens = tokens_of(lines).all;
  const auto is = [&](std::size_t i, const char* text) { return i < tokens.size() && tokens[i] == text; };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!(is(i, "struct") || is(i, "class")) || !is(i + 2, ":")) continue;
    while (i < tokens.size() && !is(i, "{")) ++i;
    for (int depth = 0; i < tokens.size(); ++i) {
      depth += is(i, "{") ? 1 : is(i, "}") ? -1 : 0;
      if (depth == 0) break;
      if (tokens[i].is_word() && is(i + 1, "(") && std::isupper(tokens[i].text[0]) == 0) called.insert(tokens[i].text);
    }
  }
  return called;
}

}  // namespace

std::set<std::string> own_names(const std::vector<std::string>& program) {
  std::set<std::string> own = declared_in(program, Doubtful::none);
  own.merge(called_in_derived_classes(program));
  return own;
}

std::vector<LibraryName> names_of_library(const std::vector<std::string>& lines, const std::set<std::string>& own) {
  std::vector<LibraryName> names;
  const std::vector<Token> tokens = tokens_of(lines).all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i], before = i > 0 ? tokens[i - 1] : Token{.text = ";"},
                after = i + 1 < tokens.size() ? tokens[i + 1] : Token{.text = ";"};
    if (!token.is_word() || before == "." || before == "->" || before == "::") continue;
    const bool is_macro = std::none_of(token.text.begin(), token.text.end(), [](char c) { return std::islower(c); }),
               is_big = std::isupper(token.text[0]) != 0, is_type = is_big && !is_macro,
               is_own = own.contains(token.text),
               is_declared = (before.is_word() && !begins_expression(before.text)) || before == ">",
               is_called = after == "(" && !is_declared && !is_keyword(token.text) && !is_macro;
    // A variable may be named as a namespace is: trace::File trace(...).
    if (after == "::" ? !is_own || !is_big : !is_own && (is_type || is_called)) names.push_back({token.text, token.at});
  }
  return names;
}

}  // namespace odori::grader
