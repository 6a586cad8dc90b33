#include "exercise/declarations.h"

namespace odori::grader {
namespace {

/// Can a type end with the token, or a word that stands before a name which is declared (`using`, `enum`)?
bool ends_type(const Token& token) {
  return (token.is_word() && !begins_expression(token.text)) || token == ">" || token == ">>";
}

/// Does a declaration's name stand at `tokens[i]`, neither the first nor the last one? As declared_in says.
bool is_declared_at(const std::vector<Token>& tokens, std::size_t i, Doubtful doubtful) {
  const Token &previous = tokens[i - 1], &next = tokens[i + 1];
  if (!tokens[i].is_word()) return false;
  const bool after_pointer = i > 1 && previous.is_one_of(" & && * ") && ends_type(tokens[i - 2]);
  const bool in_list = doubtful == Doubtful::all && (previous == "[" || previous == ",");
  const bool is_type = previous.is_one_of(" class struct typename ... ");  // <class Kind>, auto... rest
  return is_type || (ends_type(previous) && next.is_one_of(" = ; , ) { : [ ( ")) ||
         ((after_pointer || in_list) && next.is_one_of(" = ; , ) { : [ ] "));
}

/// Of what is_declared_at takes for one, what declares nothing behind its statement: `using namespace std;`,
/// `struct Mine : public Hook {`, `struct Ring ring(...)`, `[]<typename T>(T a) -> const Ring {`.
bool is_named_only(const std::vector<Token>& tokens, std::size_t i) {
  const Token &previous = tokens[i - 1], &next = tokens[i + 1];
  const bool is_used = i > 1 && tokens[i - 2] == "using" && previous.is_one_of(" namespace enum ");
  const bool is_result = i > 1 && tokens[i - 2] == "->";
  const bool is_type = previous.is_one_of(" class struct ") && !next.is_one_of(" { : ; final ");
  return is_used || is_result || is_type || previous.is_one_of(" public protected private virtual typename ... ");
}

/// Does `tokens[i]` open a list of names for what stands behind it: auto& [a, b] = ...?
bool opens_names(const std::vector<Token>& tokens, std::size_t i) {
  if (!(tokens[i] == "[") || i == 0) return false;
  const bool by_reference = i > 1 && tokens[i - 1].is_one_of(" & && ");
  return tokens[by_reference ? i - 2 : i - 1] == "auto";
}

}  // namespace

std::set<std::string> declared_in(const std::vector<std::string>& text, Doubtful doubtful) {
  const std::vector<Token> tokens = tokens_of(text).all;
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i)
    if (is_declared_at(tokens, i, doubtful)) names.insert(tokens[i].text);
  return names;
}

std::vector<Token> declared_for_below(const std::vector<std::string>& text) {
  const std::vector<Token> tokens = tokens_of(text).all;
  std::vector<Token> names;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (depth == 0 && opens_names(tokens, i)) {
      for (++i; i + 1 < tokens.size() && !(tokens[i] == "]"); ++i)
        if (tokens[i].is_word()) names.push_back(tokens[i]);
    } else if (tokens[i].is_one_of(" ( [ { ")) {
      ++depth;
    } else if (tokens[i].is_one_of(" ) ] } ")) {
      --depth;
    } else if (depth == 0 && i > 0 && tokens[i].is_word()) {
      const bool is_another = tokens[i - 1] == "," && tokens[i + 1] == "=";  // int a = 1, b = 2;
      if (is_another || (is_declared_at(tokens, i, Doubtful::none) && !is_named_only(tokens, i)))
        names.push_back(tokens[i]);
    }
  }
  return names;
}

}  // namespace odori::grader
