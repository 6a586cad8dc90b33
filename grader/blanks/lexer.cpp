// SPDX-License-Identifier: Apache-2.0
#include "blanks/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "blanks/utf8.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && byte != '\t' && byte != '\n') || byte == 0x7F;
}

/// Letters that names may hold by any compiler's tables: Latin, Greek (as formulas are written), Japanese.
bool is_letter_beyond_ascii(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return (within(0xC0, 0x17F) && c != 0xD7 && c != 0xF7) || within(0x391, 0x3A1) || within(0x3A3, 0x3C9) ||
         c == 0x3005 || within(0x3041, 0x3096) || within(0x30A1, 0x30FA) || c == 0x30FC || within(0x4E00, 0x9FEF);
}

class Lexer {
 public:
  explicit Lexer(const std::vector<std::string>& lines) : text_(join_lines(lines)) {}

  Tokens read() && {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n')
        move_to(at_ + 1);
      else if (starts("//"))
        skip_comment(end_of_line_comment());
      else if (starts("/*"))
        skip_comment(end_of_block_comment());
      else if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1))))
        read_number();
      else if (c == '"' || c == '\'')
        read_quote();
      else if (const std::size_t end = end_of_word(at_); end > at_)
        read_word(end);
      else if (is_control(c) || (c & 0x80))
        fail_at_character(at_);
      else
        read_sign();
    }
    return std::move(tokens_);
  }

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool starts(std::string_view with) const { return std::string_view(text_).substr(at_).starts_with(with); }

  void move_to(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
    at_ = end;
  }

  void add(Token::Kind kind, std::size_t end) {
    tokens_.all.push_back({kind, text_.substr(at_, end - at_), line_, at_});
    move_to(end);
  }

  void fail(const char* key, std::map<std::string, std::string> values = {}) {
    values["line"] = std::to_string(line_);
    tokens_.broken = Finding{key, std::move(values)};
    at_ = text_.size();
  }

  void fail_at_character(std::size_t i) {
    move_to(i);
    const auto [character, size] = character_at(text_, i);
    if (character == U'\uFFFD') return fail("not_utf8");
    if (is_control(text_[i])) return fail("control_character", {{"code", fmt::format("{:02X}", text_[i])}});
    fail("character_not_code",
         {{"sign", text_.substr(i, size)}, {"number", fmt::format("U+{:04X}", static_cast<std::uint32_t>(character))}});
  }

  /// The beginning of the next line if a backslash here joins it with this one; else 0. Compilers ignore blanks
  /// between.
  std::size_t after_splice(std::size_t i) const {
    if (at(i) != '\\') return 0;
    const std::size_t end = text_.find_first_not_of(" \t\v\f\r", i + 1);
    return at(end) == '\n' ? end + 1 : 0;
  }

  std::size_t end_of_line_comment() const {
    std::size_t i = at_;
    while (i < text_.size() && text_[i] != '\n') i = std::max(i + 1, after_splice(i));
    return i;
  }

  /// npos if it is not closed.
  std::size_t end_of_block_comment() const {
    for (auto star = text_.find('*', at_ + 2); star != std::string::npos; star = text_.find('*', star + 1)) {
      std::size_t next = star + 1;
      while (const std::size_t after = after_splice(next)) next = after;
      if (at(next) == '/') return next + 1;
    }
    return std::string::npos;
  }

  void skip_comment(std::size_t end) {
    if (end == std::string::npos) return fail("comment_not_closed");
    const std::size_t carriage_return = text_.find('\r', at_);  // to some compilers, the end of a line
    if (carriage_return < end) return fail_at_character(carriage_return);
    move_to(end);
  }

  /// The end of the letter or digit here; 0 if there is none.
  std::size_t after_letter(std::size_t i) const {
    if (is_letter(at(i)) || is_digit(at(i))) return i + 1;
    const auto [character, size] = character_at(text_, i);
    return is_letter_beyond_ascii(character) ? i + size : 0;
  }

  std::size_t end_of_word(std::size_t i) const {
    while (const std::size_t next = after_letter(i)) i = next;
    return i;
  }

  void read_word(std::size_t end) {
    const std::string word = text_.substr(at_, end - at_);
    // ""R"(" are two strings, of which the first has the suffix R.
    const bool is_suffix = at_ > 0 && (text_[at_ - 1] == '"' || text_[at_ - 1] == '\'');
    const auto beyond_ascii = std::ranges::find_if(word, [](char c) { return (c & 0x80) != 0; });
    if (is_suffix && beyond_ascii != word.end()) return fail_at_character(at_ + (beyond_ascii - word.begin()));
    constexpr std::string_view raw = " R LR uR UR u8R ";
    if (!is_suffix && at(end) == '"' && raw.find(' ' + word + ' ') != raw.npos) return read_raw_string(end);
    add(Token::Kind::word, end);
  }

  /// 0x1F, 1'000, 1.5f; of 1e+3, the sign and what follows are tokens of their own.
  void read_number() {
    std::size_t i = at_;
    for (;;) {
      if (at(i) == '.')
        ++i;
      else if (at(i) == '\'' && (is_letter(at(i + 1)) || is_digit(at(i + 1))))
        i += 2;
      else if (const std::size_t next = after_letter(i))
        i = next;
      else
        break;
    }
    // Compilers don't agree about a quotation mark here.
    if (at(i) == '\'') return fail("quote_not_closed", {{"sign", "'"}});
    add(Token::Kind::other, i);
  }

  void read_quote() {
    const char quote = text_[at_];
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      if (after_splice(end) > 0) return fail("forbidden_sign", {{"sign", "\\"}});
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (at(end) != quote) return fail("quote_not_closed", {{"sign", std::string(1, quote)}});
    add_quote(end + 1);
  }

  void read_raw_string(std::size_t quote) {
    const std::size_t open = text_.find_first_of("(\\\") \t\n", quote + 1);
    const std::string end_mark = ')' + text_.substr(quote + 1, open - quote - 1) + '"';
    const std::size_t end = at(open) == '(' ? text_.find(end_mark, open) : std::string::npos;
    if (end == std::string::npos) return fail("quote_not_closed", {{"sign", "R\""}});
    add_quote(end + end_mark.size());
  }

  void add_quote(std::size_t end) {
    for (std::size_t i = at_; i < end; ++i) {
      // Compilers differ about blanks between a backslash and the line's end.
      if (after_splice(i) > i + 2) return fail("forbidden_sign", {{"sign", "\\"}});
      if (is_control(text_[i]) || text_.compare(i, 3, "\uFFFD") == 0) return fail_at_character(i);
    }
    add(Token::Kind::other, end);
  }

  void read_sign() {
    static constexpr std::array<std::pair<std::string_view, const char*>, 5> digraphs{
        {{"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}, {"%:", "#"}}};
    const auto digraph = std::ranges::find_if(digraphs, [this](const auto& pair) { return starts(pair.first); });
    // std::vector<::Type>: [lex.pptoken] 3.2
    const bool is_less = starts("<::") && at(at_ + 3) != ':' && at(at_ + 3) != '>';
    const bool is_digraph = digraph != digraphs.end() && !is_less;
    const bool has_two = is_digraph || starts("::") || starts("<<");
    add(Token::Kind::sign, at_ + (starts("...") ? 3 : has_two ? 2 : 1));
    if (is_digraph) tokens_.all.back().text = digraph->second;
  }

  const std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Tokens tokens_;
};

}  // namespace

Tokens tokens_of(const std::vector<std::string>& text) { return Lexer(text).read(); }

std::set<std::string> identifiers_in(const std::vector<std::string>& text) {
  std::set<std::string> words;
  for (const Token& token : tokens_of(text).all)
    if (token.is_word()) words.insert(token.text);
  return words;
}

char closing_bracket(const Token& token) { return token == "(" ? ')' : token == "[" ? ']' : token == "{" ? '}' : '\0'; }

std::optional<Token> unclosed_bracket(const std::vector<std::string>& text) {
  std::vector<Token> open;
  for (const Token& token : tokens_of(text).all) {
    if (closing_bracket(token) != 0) open.push_back(token);
    if (!token.is_one_of(" ) ] } ")) continue;
    if (open.empty() || closing_bracket(open.back()) != token.text[0]) return {};
    open.pop_back();
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

}  // namespace odori::grader
