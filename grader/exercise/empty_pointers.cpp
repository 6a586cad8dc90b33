#include "exercise/empty_pointers.h"

#include <string_view>

#include "exercise/declarations.h"
#include "exercise/lexer.h"

namespace odori::grader {

std::set<std::string> empty_pointers_in(const std::vector<std::string>& text) {
  const std::vector<Token> tokens = tokens_of(text).all;
  const std::set<std::string> declared = declared_in(text, Doubtful::none);
  std::set<std::string> empty, moved;
  bool of_pointer = false;  // what the statement has declared so far: `std::unique_ptr<Optimizer>`
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token &token = tokens[i], &next = tokens[i + 1];
    if (moved.contains(token.text)) empty.insert(token.text);
    if (i > 1 && tokens[i - 2] == "move" && next == ")") moved.insert(token.text);
    const bool has_no_value = of_pointer && next == ";" && tokens[i - 1] != ">>";
    const bool is_null =
        (next == "=" || next == "(" || next == "{") && i + 2 < tokens.size() && tokens[i + 2] == "nullptr";
    if (declared.contains(token.text) && (has_no_value || is_null)) empty.insert(token.text);
    if (token.kind == Token::Kind::sign && std::string_view(";{}(=").find(token.text) != std::string_view::npos)
      of_pointer = false;
    else
      of_pointer |= token == "*" || token == "DatasetPtr" || token.text.ends_with("_ptr");
  }
  return empty;
}

}  // namespace odori::grader
