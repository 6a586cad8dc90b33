// SPDX-License-Identifier: Apache-2.0
#include "blanks/blanks.h"

#include <algorithm>

#include "blanks/lexer.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

constexpr std::string_view placeholder = "PUT_YOUR_CODE", mark_begins = "BLANK ";

/// Anything else that begins with BLANK and isn't quite a mark is an error: one that is mistyped must not go unseen.
BlankMark read_mark(std::string_view comment, const std::string& where) {
  const auto mark = blank_mark_of(comment);
  require(mark.has_value(), "{}: \"{}\" isn't a blank's first line. It should read \"BLANK 1: question\".", where,
          comment);
  require(!mark->question.empty(), "{}: blank {} asks no question. Write one behind the colon.", where, mark->number);
  return *mark;
}

/// A directive or a command, without a comment behind it; empty if the line is a comment.
std::string_view shell_code_of(std::string_view line) {
  line = trim(line);
  if (line.starts_with('#') && !line.starts_with("#PBS")) return {};
  return line.substr(0, line.find(" #"));
}

bool holds_placeholder(std::string_view text) { return text.find(placeholder) != std::string_view::npos; }

}  // namespace

Language language_of(std::string_view path) { return path.ends_with(".sh") ? Language::shell : Language::cpp; }

std::optional<std::string_view> comment_of(std::string_view line, Language language) {
  line = trim(line);
  const std::string_view mark = language == Language::cpp ? "//" : "#";
  if (!line.starts_with(mark)) return {};
  line.remove_prefix(mark.size());
  if (language == Language::shell && !line.empty() && line.front() != ' ' && line.front() != '\t') return {};
  line = trim(line);
  // "# PBS -l ..." is meant as a directive: the blank that holds it isn't empty, but wrong.
  if (language == Language::shell && (line.starts_with("PBS -") || line.starts_with("SBATCH -"))) return {};
  return line;
}

std::optional<BlankMark> blank_mark_of(std::string_view comment) {
  if (!comment.starts_with(mark_begins)) return {};
  const std::string_view rest = trim(comment.substr(mark_begins.size()));
  const auto colon = rest.find(':');
  const int number = number_of<int>(rest.substr(0, colon)).value_or(0);
  if (colon == std::string_view::npos || number <= 0) return {};
  return BlankMark{number, trim(rest.substr(colon + 1))};
}

std::vector<Blank> parse_blanks(const std::vector<std::string>& lines, const std::string& path) {
  const Language language = language_of(path);
  std::vector<Blank> blanks;
  bool inside = false, in_question = false;
  for (int n = 1; n <= static_cast<int>(lines.size()); ++n) {
    const std::string& line = lines[n - 1];
    const std::string where = fmt::format("{}:{}", path, n);
    const auto comment = comment_of(line, language);
    if (comment && comment->starts_with(mark_begins)) {
      const BlankMark mark = read_mark(*comment, where);
      if (inside)
        fail("{}: blank {} begins inside blank {}, which began in line {}. Close that one with END BLANK.", where,
             mark.number, blanks.back().number, blanks.back().first_line);
      if (!blanks.empty() && mark.number != blanks.back().number + 1)
        fail("{}: blank {} follows blank {}. Number them in order, without gaps.", where, mark.number,
             blanks.back().number);
      blanks.push_back({.number = mark.number, .question = std::string(mark.question), .first_line = n});
      inside = in_question = true;
    } else if (comment == "END BLANK") {
      require(inside, "{}: END BLANK, but no blank is open here.", where);
      Blank& blank = blanks.back();
      blank.last_line = n;
      if (in_question) blank.text_line = n;
      inside = in_question = false;
    } else if (in_question && comment && !comment->starts_with(fault_begins)) {
      if (!comment->empty()) blanks.back().question += ' ' + std::string(*comment);
    } else if (inside) {
      if (in_question) blanks.back().text_line = n;
      in_question = false;
      blanks.back().text.push_back(line);
    }
  }
  require(!inside, "{}:{}: blank {} isn't closed. Put END BLANK behind its text.", path,
          blanks.empty() ? 0 : blanks.back().first_line, blanks.empty() ? 0 : blanks.back().number);
  return blanks;
}

bool is_unfilled(const Blank& blank, Language language) {
  if (language == Language::cpp) return identifiers_in(blank.text).contains(std::string(placeholder));
  return std::any_of(blank.text.begin(), blank.text.end(),
                     [](const std::string& line) { return holds_placeholder(shell_code_of(line)); });
}

bool is_same_code(const std::vector<std::string>& lines, const std::vector<std::string>& others) {
  const Tokens a = tokens_of(lines), b = tokens_of(others);
  return !a.broken && !b.broken && std::ranges::equal(a.all, b.all, {}, &Token::text, &Token::text);
}

bool is_as_given(const Blank& blank) { return !blank.given.empty() && is_same_code(blank.text, blank.given); }

bool is_left_empty(const Blank& blank, Language language) {
  if (is_unfilled(blank, language) || is_as_given(blank)) return true;
  if (language == Language::cpp) {
    const Tokens tokens = tokens_of(blank.text);
    return tokens.all.empty() && !tokens.broken;
  }
  return std::all_of(blank.text.begin(), blank.text.end(), [](const std::string& line) {
    const bool placeholder_kept = shell_code_of(line).empty() && holds_placeholder(line);
    return trim(line).empty() || comment_of(line, Language::shell) || placeholder_kept;
  });
}

void require_unfilled(const std::vector<Blank>& blanks, const std::string& path) {
  for (const Blank& blank : blanks)
    require(is_unfilled(blank, language_of(path)), "{}:{}: blank {} holds no {}.", path, blank.first_line, blank.number,
            placeholder);
}

std::vector<std::string> with_text(std::vector<std::string> lines, const Blank& blank,
                                   const std::vector<std::string>& text) {
  const auto begin = lines.begin() + blank.text_line - 1;
  const auto at = lines.erase(begin, lines.begin() + blank.last_line - 1);
  lines.insert(at, text.begin(), text.end());
  return lines;
}

}  // namespace odori::grader
