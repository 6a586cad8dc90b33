#include "blanks/lexer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "blanks/blanks.h"
#include "blanks/utf8.h"

namespace odori::grader {
namespace {

constexpr std::size_t longest_delimiter = 16;  // of a raw string

/// Those of several characters, longest first.
constexpr std::array<std::string_view, 33> long_signs{
    "%:%:", "<=>", "->*", "...", "<<=", ">>=", "##", "<:", ":>", "<%", "%>", "%:", "::", ".*", "->", "+=", "-=",
    "*=",   "/=",  "%=",  "^=",  "&=",  "|=",  "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "++", "--"};

constexpr std::array<std::pair<std::string_view, const char*>, 6> other_spellings{
    {{"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}, {"%:", "#"}, {"%:%:", "##"}}};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);  // char has no sign on arm64
  return (byte < ' ' && byte != '\t' && byte != '\n') || byte == 0x7F;
}

/// Compilers allow more between a raw string's R" and its bracket.
bool may_delimit(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("{}[]#<>%:;.?*+-/^&|~!=,").find(c) != std::string_view::npos;
}

/// Letters that names may hold by any compiler's tables: Latin, Greek (as formulas are written), Japanese. There are
/// more; who needs them is told so.
bool is_letter_beyond_ascii(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return (within(0xC0, 0x17F) && c != 0xD7 && c != 0xF7) || within(0x391, 0x3A1) || within(0x3A3, 0x3C9) ||
         c == 0x3005 || within(0x3041, 0x3096) || within(0x30A1, 0x30FA) || c == 0x30FC || within(0x4E00, 0x9FEF);
}

/// Cuts a text into tokens, with line splices as they are: only comments go on behind one.
class Lexer {
 public:
  explicit Lexer(const std::vector<std::string>& lines) : text_(join_lines(lines)) {}

  Tokens read() && {
    while (!tokens_.broken && at_ < text_.size()) {
      if (text_[at_] == '\n' || is_blank(text_[at_])) {
        move_to(at_ + 1);
      } else if (starts("//")) {
        skip_comment(end_of_line_comment());
      } else if (starts("/*")) {
        skip_comment(end_of_block_comment());
      } else {
        read_token();
      }
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
  }

  /// Behind the line's end, where a backslash here joins it with the next; else 0. Compilers look past blanks.
  std::size_t behind_splice(std::size_t i) const {
    if (at(i) != '\\') return 0;
    const std::size_t end = text_.find_first_not_of(" \t\v\f\r", i + 1);
    return end != std::string::npos && text_[end] == '\n' ? end + 1 : 0;
  }

  std::size_t end_of_line_comment() const {
    std::size_t i = at_;
    while (i < text_.size() && text_[i] != '\n') {
      const std::size_t next = behind_splice(i);
      i = next > 0 ? next : i + 1;
    }
    return i;
  }

  /// npos if it isn't closed.
  std::size_t end_of_block_comment() const {
    for (auto star = text_.find('*', at_ + 2); star != std::string::npos; star = text_.find('*', star + 1)) {
      std::size_t next = star + 1;
      while (const std::size_t behind = behind_splice(next)) next = behind;
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

  void read_token() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1)))) return read_number();
    if (c == '"' || c == '\'') return read_quote(at_);
    if (const std::size_t end = end_of_word(at_); end > at_) return read_word(end);
    if (is_control(c) || (c & 0x80)) return fail_at_character(at_);
    read_sign();
  }

  /// Behind a letter or, within a name, a digit; 0 if none is there.
  std::size_t behind_letter(std::size_t i) const {
    if (is_letter(at(i)) || is_digit(at(i))) return i + 1;
    const auto [character, size] = character_at(text_, i);
    return is_letter_beyond_ascii(character) ? i + size : 0;
  }

  std::size_t end_of_word(std::size_t i) const {
    while (const std::size_t next = behind_letter(i)) i = next;
    return i;
  }

  void read_word(std::size_t end) {
    const std::string_view word = std::string_view(text_).substr(at_, end - at_);
    const char next = at(end);
    if (next == '"' && (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R"))
      return read_raw_string(end);
    if ((next == '"' || next == '\'') && (word == "L" || word == "u" || word == "U" || word == "u8"))
      return read_quote(end);
    add(Token::Kind::word, end);
  }

  /// 0x1F, 1'000, 1.5e+3, and what else [lex.ppnumber] takes for a number.
  void read_number() {
    std::size_t i = at_ + 1;
    bool joined = false;  // the last character follows a ' : an e there takes no sign
    for (;;) {
      const char last = text_[i - 1];
      const bool signed_exponent = !joined && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      if (at(i) == '.' || (signed_exponent && (at(i) == '+' || at(i) == '-'))) {
        ++i;
        joined = false;
      } else if (at(i) == '\'' && (is_letter(at(i + 1)) || is_digit(at(i + 1)))) {
        i += 2;
        joined = true;
      } else if (const std::size_t next = behind_letter(i)) {
        i = next;
        joined = false;
      } else {
        break;
      }
    }
    // Compilers don't agree about a quotation mark here.
    if (at(i) == '\'') return fail("quote_not_closed", {{"sign", "'"}});
    add(Token::Kind::number, i);
  }

  /// A string or a character, whose quotation mark is here.
  void read_quote(std::size_t open) {
    const char quote = text_[open];
    std::size_t i = open + 1;
    while (i < text_.size() && text_[i] != quote && text_[i] != '\n') {
      if (behind_splice(i) > 0) return fail("forbidden_sign", {{"sign", "\\"}});
      if (text_[i] == '\\') ++i;
      const std::size_t next = behind_quoted(i);
      if (next == 0) return fail_at_character(i);
      i = next;
    }
    if (at(i) != quote) return fail("quote_not_closed", {{"sign", std::string(1, quote)}});
    add_quote(i + 1);
  }

  void read_raw_string(std::size_t quote) {
    std::size_t open = quote + 1;
    while (may_delimit(at(open))) ++open;
    const std::string delimiter = text_.substr(quote + 1, open - quote - 1);
    const bool opened = at(open) == '(' && delimiter.size() <= longest_delimiter;
    const std::size_t end = opened ? text_.find(')' + delimiter + '"', open) : std::string::npos;
    if (end == std::string::npos) return fail("quote_not_closed", {{"sign", "R\""}});
    for (std::size_t i = quote, next = 0; i < end; i = next) {
      // Compilers differ about blanks between a backslash and the line's end.
      if (behind_splice(i) > i + 2) return fail("forbidden_sign", {{"sign", "\\"}});
      next = behind_quoted(i);
      if (next == 0) return fail_at_character(i);
    }
    add_quote(end + delimiter.size() + 2);
  }

  /// With its suffix, "a"s, a word of its own. It is never the R or u8 that another quote begins with: ""R"(" are two
  /// strings. Letters beyond ASCII aren't taken: compilers don't agree about them here.
  void add_quote(std::size_t end) {
    add(Token::Kind::quote, end);
    if (!is_letter(at(at_)) && !(at(at_) & 0x80)) return;
    const std::size_t suffix_end = end_of_word(at_);
    for (std::size_t i = at_; i == at_ || i < suffix_end; ++i)
      if (at(i) & 0x80) return fail_at_character(i);
    add(Token::Kind::word, suffix_end);
  }

  /// Behind the character here; 0 if none may be quoted that is like it.
  std::size_t behind_quoted(std::size_t i) const {
    const auto [character, size] = character_at(text_, i);
    return is_control(text_[i]) || character == U'\uFFFD' ? 0 : i + size;
  }

  void read_sign() {
    std::size_t size = 1;
    for (const std::string_view sign : long_signs)
      if (starts(sign)) {
        size = sign.size();
        break;
      }
    // std::vector<::Type>: [lex.pptoken] 3.2
    if (starts("<::") && at(at_ + 3) != ':' && at(at_ + 3) != '>') size = 1;
    add(Token::Kind::sign, at_ + size);
    for (const auto& [other, plain] : other_spellings)
      if (tokens_.all.back().text == other) tokens_.all.back().text = plain;
  }

  void fail_at_character(std::size_t i) {
    move_to(i);
    const auto [character, size] = character_at(text_, i);
    if (character == U'\uFFFD') return fail("not_utf8");
    if (is_control(text_[i])) return fail("control_character", {{"code", fmt::format("{:02X}", text_[i])}});
    fail("character_not_code",
         {{"sign", text_.substr(i, size)}, {"number", fmt::format("U+{:04X}", static_cast<std::uint32_t>(character))}});
  }

  const std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Tokens tokens_;
};

}  // namespace

Tokens tokens_of(const std::vector<std::string>& text) { return Lexer(text).read(); }

bool is_keyword(const std::string& word) {
  constexpr std::string_view words =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
      "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
      "decltype default delete do double dynamic_cast else enum explicit export extern false final float for "
      "friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
      "override private protected public register reinterpret_cast requires return short signed sizeof static "
      "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
      "union unsigned using virtual void volatile wchar_t while xor xor_eq ";
  return words.find(' ' + word + ' ') != words.npos;
}

bool begins_expression(const std::string& word) {
  constexpr std::string_view words =
      " return throw new delete goto case else do sizeof co_await co_return co_yield "
      "and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq ";
  return words.find(' ' + word + ' ') != words.npos;
}

std::set<std::string> identifiers_in(const std::vector<std::string>& text) {
  std::set<std::string> words;
  for (const Token& token : tokens_of(text).all)
    if (token.is_word()) words.insert(token.text);
  return words;
}

namespace {

/// The brackets that are still open behind the last token, in order; nothing if one is closed that isn't open.
std::optional<std::vector<Token>> open_brackets(const Tokens& tokens) {
  std::vector<Token> open;
  for (const Token& token : tokens.all) {
    if (token.kind != Token::Kind::sign) continue;
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{') open.push_back(token);
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back().text[0] != (c == ')' ? '(' : c == ']' ? '[' : '{')) return {};
      open.pop_back();
    }
  }
  return open;
}

}  // namespace

std::optional<Token> unclosed_bracket(const std::vector<std::string>& text) {
  const auto open = open_brackets(tokens_of(text));
  return open && !open->empty() ? std::optional(open->back()) : std::nullopt;
}

namespace {

/// Where the bracket opens that `tokens[close]` closes; `close` itself if that isn't found.
std::size_t opening_of(const std::vector<Token>& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    depth += tokens[i].is_one_of(" ) ] } ") ? 1 : tokens[i].is_one_of(" ( [ { ") ? -1 : 0;
    if (depth == 0) return i;
  }
  return close;
}

}  // namespace

std::optional<Token> left_without_statement(const std::vector<std::string>& text) {
  std::vector<Token> tokens = tokens_of(text).all;
  const auto ends_with = [&tokens](std::string_view words) {
    return !tokens.empty() && tokens.back().is_one_of(words);
  };
  // What stands before a statement and is none: [[likely]], a label, `case 1:`.
  for (;;) {
    const std::size_t n = tokens.size();
    std::size_t begin = n;
    if (ends_with(" ] ")) {
      const std::size_t open = opening_of(tokens, n - 1);
      if (open + 2 < n && tokens[open + 1] == "[") begin = open;
    } else if (ends_with(" : ") && n > 1) {
      std::size_t word = n - 2;
      while (word > 0 && !tokens[word].is_one_of(" case default : ; { } ")) --word;
      const bool is_case = tokens[word].is_one_of(" case default ");
      if (is_case || tokens[n - 2].is_word()) begin = is_case ? word : n - 2;
    }
    if (begin == n) break;
    tokens.resize(begin);
  }
  if (ends_with(" else do ")) return tokens.back();
  if (!ends_with(" ) ")) return {};
  std::size_t head = opening_of(tokens, tokens.size() - 1);
  if (head > 0 && tokens[head - 1] == "constexpr") --head;  // if constexpr (...)
  if (head == 0 || !tokens[head - 1].is_one_of(" if for while switch ")) return {};
  const std::size_t word = head - 1;
  if (tokens[word] == "while" && word > 0 && tokens[word - 1] == "}")
    if (const std::size_t body = opening_of(tokens, word - 1); body > 0 && tokens[body - 1] == "do") return {};
  return tokens[word];
}

}  // namespace odori::grader
