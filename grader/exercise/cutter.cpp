#include "exercise/cutter.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "exercise/blanks.h"

namespace odori::grader {
namespace {

constexpr std::string_view select_directive = "#PBS -l ";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

/// The text without comments, its lines joined by one space each.
std::string joined(const std::vector<std::string>& text) {
  std::string all;
  for (const std::string& line : text) {
    const auto words = trim(std::string_view(line).substr(0, line.find("//")));
    if (words.empty()) continue;
    if (!all.empty()) all += ' ';
    all += words;
  }
  return all;
}

/// What the blank's answer becomes: one line.
std::string unfilled_line(const Blank& blank, const std::string& path) {
  const std::string where = fmt::format("{}:{}: blank {}", path, blank.text_line, blank.number);
  require(!blank.text.empty(), "{} is empty. A solution's blank holds the answer.", where);
  require(!is_unfilled(blank, language_of(path)), "{} still holds PUT_YOUR_CODE. A solution's blank holds the answer.",
          where);
  const std::string& first = blank.text.front();
  if (language_of(path) == Language::shell) {
    require(blank.text.size() == 1 && first.starts_with(select_directive), "{} should hold one line, \"{}select=...\".",
            where, select_directive);
    return std::string(select_directive) + "PUT_YOUR_CODE";
  }
  const auto indent = std::min(first.find_first_not_of(' '), first.size());
  return std::string(indent, ' ') + declaration_of(blank.text, where) + " = PUT_YOUR_CODE;";
}

/// Throws Error if a line of an answer stands in the exercise. What the exercise shows anyway may: a line without
/// letters or digits, like `}`, and what an answer over several lines has of its `Type name =`.
void require_no_leak(const std::vector<Blank>& answers, const std::vector<std::string>& exercise,
                     const std::string& path) {
  for (const Blank& blank : answers) {
    const std::string unfilled = unfilled_line(blank, path), declaration = unfilled.substr(0, unfilled.find("PUT_"));
    for (const std::string& line : blank.text) {
      const auto answer = trim(line);
      if (std::none_of(answer.begin(), answer.end(), is_word)) continue;
      if (declaration.find(answer) != std::string::npos) continue;
      for (const std::string& shown : exercise)
        require(shown.find(answer) == std::string::npos,
                "{}: the answer's line \"{}\" of blank {} also stands outside the blank, in \"{}\". Write one of the "
                "two in another way, or the exercise shows the answer.",
                path, answer, blank.number, trim(shown));
    }
  }
}

/// Says what to do, at the end of the comment that the file begins with.
void add_head(std::vector<std::string>& lines) {
  const auto head_end =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return !line.starts_with("//"); });
  lines.insert(head_end, {"//", "// Fill in the blanks: replace each PUT_YOUR_CODE by your own code."});
}

}  // namespace

std::string declaration_of(const std::vector<std::string>& text, const std::string& where) {
  const std::string statement = joined(text);
  const auto end = statement.find_first_of("=;");
  const std::string declaration(trim(std::string_view(statement).substr(0, end)));
  // The name is the last word; what is left of it is the type. "f(x)", "if (x", "x" and "type name{" are none.
  auto name = declaration.size();
  while (name > 0 && is_word(declaration[name - 1])) --name;
  const auto type = trim(std::string_view(declaration).substr(0, name));
  require(end != std::string::npos && name < declaration.size() && !type.empty() &&
              type.find_first_of("(){}[]+-/!?.\"") == std::string_view::npos && type != "return",
          "{} should begin with a declaration, `Type name = answer;` or `Type name;`, and begins with \"{}\".", where,
          statement.substr(0, 60));
  require(!has_word(type, "auto"),
          "{} declares `{}`. Name the type: with auto, PUT_YOUR_CODE itself would be the variable's type.", where,
          declaration);
  return declaration;
}

std::string cut(std::string_view solution, const std::string& path) {
  std::vector<std::string> lines = split_lines(solution);
  const std::vector<Blank> answers = parse_blanks(lines, path);
  if (answers.empty()) return std::string(solution);
  for (auto blank = answers.rbegin(); blank != answers.rend(); ++blank)
    lines = with_text(std::move(lines), *blank, {unfilled_line(*blank, path)});
  require_no_leak(answers, lines, path);
  if (language_of(path) == Language::cpp) add_head(lines);
  const std::vector<Blank> blanks = parse_blanks(lines, path);
  require_unfilled(blanks, path);
  return join_lines(lines);
}

std::string first_difference(std::string_view expected, std::string_view found) {
  if (expected == found) return {};
  const auto wanted = split_lines(expected), seen = split_lines(found);
  const auto show = [](const std::vector<std::string>& lines, std::size_t i) {
    return i < lines.size() ? fmt::format("\"{}\"", lines[i]) : std::string("the end of the file");
  };
  std::size_t i = 0;
  while (i < wanted.size() && i < seen.size() && wanted[i] == seen[i]) ++i;
  if (i == wanted.size() && i == seen.size()) return "the lines are equal, but not the line ends";
  return fmt::format("line {} should be {}, and is {}", i + 1, show(wanted, i), show(seen, i));
}

}  // namespace odori::grader
