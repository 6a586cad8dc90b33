#include "exercise/lexer.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace odori::grader {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

/// Cuts a text into words (identifiers, numbers) and single signs; comments and the insides of quotes are left out.
class Lexer {
 public:
  explicit Lexer(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_ += line + '\n';
  }

  /// The next token; nothing at the end, or where something isn't closed.
  std::optional<std::string> next() {
    while (skip_space() || skip_comment()) {
    }
    if (broken_ || at_ >= text_.size()) return {};
    if (is_word(text_[at_])) return word();
    if (text_[at_] == '"' || text_[at_] == '\'') return quoted();
    at_line_start_ = false;
    return std::string(1, text_[at_++]);
  }
  bool broken() const { return broken_; }
  /// Was the last token the first one in its line? (A directive's # is.)
  bool first_in_line() const { return first_in_line_; }

 private:
  bool starts(std::string_view with) const { return std::string_view(text_).substr(at_).starts_with(with); }

  bool skip_space() {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || starts("\\\n")); ++at_)
      if (text_[at_] == '\n') at_line_start_ = true;
    first_in_line_ = at_line_start_;
    return at_ > begin;
  }

  bool skip_comment() {
    if (starts("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    if (!starts("/*")) return false;
    const std::size_t end = text_.find("*/", at_ + 2);
    broken_ |= end == std::string::npos;
    at_ = broken_ ? text_.size() : end + 2;
    return true;
  }

  std::string word() {
    at_line_start_ = false;
    const std::size_t begin = at_;
    const bool is_number = std::isdigit(static_cast<unsigned char>(text_[at_]));
    // 1'000'000 is one number
    while (at_ < text_.size() && (is_word(text_[at_]) || (is_number && text_[at_] == '\'' && at_ + 1 < text_.size() &&
                                                          is_word(text_[at_ + 1]))))
      ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    static const std::set<std::string> raw{"R", "LR", "uR", "UR", "u8R"};
    if (at_ < text_.size() && text_[at_] == '"' && raw.contains(word)) return raw_string();
    return word;
  }

  std::string raw_string() {
    const std::size_t open = text_.find('(', at_);
    const std::size_t end =
        open == std::string::npos ? open : text_.find(')' + text_.substr(at_ + 1, open - at_ - 1) + '"', open);
    broken_ |= end == std::string::npos;
    at_ = broken_ ? text_.size() : end + (open - at_) + 1;
    return "\"";
  }

  std::string quoted() {
    at_line_start_ = false;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    broken_ |= at_ >= text_.size() || text_[at_] != quote;
    ++at_;
    return std::string(1, quote);
  }

  std::string text_;
  std::size_t at_ = 0;
  bool broken_ = false, at_line_start_ = true, first_in_line_ = true;
};

}  // namespace

bool Token::is_word() const { return grader::is_word(text[0]); }

Tokens tokens_of(const std::vector<std::string>& text) {
  Tokens tokens;
  Lexer lexer(text);
  for (auto token = lexer.next(); token; token = lexer.next()) tokens.all.push_back({*token, lexer.first_in_line()});
  tokens.broken = lexer.broken();
  return tokens;
}

std::set<std::string> words_in(const std::vector<std::string>& text) {
  std::set<std::string> words;
  for (const Token& token : tokens_of(text).all)
    if (token.is_word()) words.insert(token.text);
  return words;
}

bool is_self_contained(const std::vector<std::string>& text) {
  if (text.empty() || text.back().ends_with('\\')) return text.empty();
  const Tokens tokens = tokens_of(text);
  std::string open, previous, before_previous;
  for (const Token& token : tokens.all) {
    const char c = token.text[0];
    if (c == '#' && token.first_in_line) return false;
    // Other spellings of brackets and of #: <% %> <: :> %: (but vector<::T> is none)
    if ((previous == "<" && c == '%') || (previous == "%" && (c == '>' || c == ':')) || (previous == ":" && c == '>') ||
        (before_previous == "<" && previous == ":" && c != ':') || token == "_Pragma")
      return false;
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
    before_previous = std::exchange(previous, token.text);
  }
  return open.empty() && !tokens.broken;
}

}  // namespace odori::grader
