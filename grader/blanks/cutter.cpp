// SPDX-License-Identifier: Apache-2.0
#include "blanks/cutter.h"

#include <algorithm>
#include <set>

#include "blanks/lexer.h"
#include "blanks/planted_fault.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

constexpr std::string_view select_directive = "#PBS -l ";

/// The words that a line may consist of and show nothing of an answer, and that begin no declaration.
bool is_keyword(const std::string& word) {
  constexpr std::string_view words =
      " break case catch continue default delete do else false for goto if new nullptr return sizeof switch this throw "
      "true try while ";
  return words.find(' ' + word + ' ') != words.npos;
}
bool is_word(char c) { return is_letter(c) || is_digit(c); }

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

/// Of `const int device = 0;`: the type, the name, and the sign behind it.
struct Declaration {
  std::string type, name;
  char behind = 0;
};

/// What a text's first statement declares; nothing if it is something else: "f(x)", "if (x)", "a.b = c".
std::optional<Declaration> first_declared(const std::vector<std::string>& text) {
  const std::string statement = joined(text);
  const auto end = std::min(statement.find_first_of("=;({"), statement.size());
  const std::string_view whole = trim(std::string_view(statement).substr(0, end));
  auto name = whole.size();
  while (name > 0 && is_word(whole[name - 1])) --name;
  Declaration found{std::string(trim(whole.substr(0, name))), std::string(whole.substr(name)),
                    end < statement.size() ? statement[end] : '\0'};
  const bool is_type = !found.type.empty() && (is_word(found.type[0]) || found.type[0] == ':') &&
                       !found.type.ends_with("::") && found.type.find_first_of("[]+-/!?.\"") == std::string::npos &&
                       !is_keyword(found.type);
  if (found.name.empty() || is_keyword(found.name) || !is_type) return {};
  return found;
}

/// What the blank's answer becomes: one line, or the program with a planted fault. `lines`: the solution's.
std::vector<std::string> unfilled_text(const std::vector<std::string>& lines, const Blank& blank,
                                       const std::string& path) {
  const std::string where = fmt::format("{}:{}: blank {}", path, blank.text_line, blank.number);
  require(!blank.text.empty(), "{} is empty. A solution's blank holds the answer.", where);
  require(!is_unfilled(blank, language_of(path)), "{} still holds PUT_YOUR_CODE. A solution's blank holds the answer.",
          where);
  const std::string& first = blank.text.front();
  if (language_of(path) == Language::shell) {
    require(blank.text.size() == 1 && first.starts_with(select_directive), "{} should hold one line, \"{}select=...\".",
            where, select_directive);
    return {std::string(select_directive) + "PUT_YOUR_CODE"};
  }
  if (const auto fault = planted_fault_of(blank, path)) return fault->given;
  std::string kept = kept_of(lines, blank, path);
  if (!kept.empty()) kept += kept == "return" ? " " : " = ";
  const auto indent = std::min(first.find_first_not_of(' '), first.size());
  return {std::string(indent, ' ') + kept + "PUT_YOUR_CODE;"};
}

/// Does a line show nothing of an answer: brackets, `} else {`?
bool says_nothing(const std::string& line) {
  const Tokens tokens = tokens_of({line});
  return !tokens.broken && std::all_of(tokens.all.begin(), tokens.all.end(), [](const Token& token) {
    return token.kind == Token::Kind::sign || is_keyword(token.text);
  });
}

/// Throws Error if a line of an answer stands in the exercise. What the exercise shows anyway may: a line without names
/// and numbers, and what an answer over several lines has of its `Type name =`. `unfilled`: what each became. `given`:
/// programs with a planted fault, of which the exercise has most lines; another one may show the repair.
void require_no_leak(const std::vector<Blank>& answers, const std::vector<std::vector<std::string>>& unfilled,
                     const std::set<int>& given, const std::vector<std::string>& exercise, const std::string& path) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (given.contains(answers[i].number)) continue;
    const std::string kept = unfilled[i].front().substr(0, unfilled[i].front().find("PUT_"));
    for (const std::string& line : answers[i].text) {
      const auto answer = trim(line);
      if (says_nothing(line) || kept.find(answer) != std::string::npos) continue;
      for (const std::string& shown : exercise)
        require(shown.find(answer) == std::string::npos,
                "{}: the answer's line \"{}\" of blank {} also stands outside the blank, in \"{}\". Write one of the "
                "two in another way, or the exercise shows the answer.",
                path, answer, answers[i].number, trim(shown));
    }
  }
}

/// Says what to do, at the end of the comment that the file begins with.
void add_head(std::vector<std::string>& lines, bool has_faults) {
  std::vector<std::string> head{"//", "// Fill in the blanks: replace each PUT_YOUR_CODE by your own code."};
  if (has_faults) head.push_back("// A blank that holds a program has a fault: find it, and repair the program.");
  const auto head_end =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return !line.starts_with("//"); });
  lines.insert(head_end, head.begin(), head.end());
}

/// Throws Error for a mark of a planted fault that has become a line of the exercise.
void require_no_fault_marks(const std::vector<std::string>& exercise, const std::string& path) {
  for (const std::string& line : exercise)
    require(!is_fault_mark(comment_of(line, Language::cpp).value_or("")),
            "{}: \"{}\" is outside the blanks. A planted fault is inside one.", path, trim(line));
}

}  // namespace

std::string kept_of(const std::vector<std::string>& lines, const Blank& blank, const std::string& path) {
  const std::string where = fmt::format("{}:{}: blank {}", path, blank.text_line, blank.number);
  if (planted_fault_of(blank, path)) return {};
  const std::vector<Token> tokens = tokens_of(blank.text).all;
  if (tokens.size() > 1 && tokens[0] == "return" && !(tokens[1] == ";")) return "return";
  const auto declared = first_declared(blank.text);
  if (!declared || !identifiers_in(with_text(lines, blank, {})).contains(declared->name)) return {};
  const std::string declaration = declared->type + ' ' + declared->name;
  require(declared->behind == '=' || declared->behind == ';',
          "{} declares `{}`, which is used outside of it. Write `Type name = answer;` or `Type name;`.", where,
          declaration);
  require(!identifiers_in({declared->type}).contains("auto"),
          "{} declares `{}`. Name the type: with auto, PUT_YOUR_CODE itself would be the variable's type.", where,
          declaration);
  return declaration;
}

std::string cut(std::string_view solution, const std::string& path) {
  const std::vector<std::string> answered = split_lines(solution);
  const std::vector<Blank> answers = parse_blanks(answered, path);
  if (answers.empty()) return std::string(solution);
  std::vector<std::string> lines = answered;
  std::vector<std::vector<std::string>> unfilled;
  std::set<int> given;  // blanks with a planted fault
  for (const Blank& blank : answers) {
    unfilled.push_back(unfilled_text(answered, blank, path));
    if (planted_fault_of(blank, path)) given.insert(blank.number);
  }
  for (std::size_t i = answers.size(); i-- > 0;) lines = with_text(std::move(lines), answers[i], unfilled[i]);
  require_no_leak(answers, unfilled, given, lines, path);
  if (language_of(path) == Language::cpp) {
    add_head(lines, !given.empty());
    require_no_fault_marks(lines, path);
  }
  std::vector<Blank> blanks = parse_blanks(lines, path);
  std::erase_if(blanks, [&given](const Blank& blank) { return given.contains(blank.number); });
  require_unfilled(blanks, path);
  return join_lines(lines);
}

std::string filled_exercise(const std::filesystem::path& solution,
                            const std::map<int, std::vector<std::string>>& blanks) {
  std::vector<std::string> lines = split_lines(cut(read_file(solution), solution.string()));
  const std::vector<Blank> places = parse_blanks(lines, solution.string());
  for (auto blank = places.rbegin(); blank != places.rend(); ++blank)
    if (const auto text = blanks.find(blank->number); text != blanks.end())
      lines = with_text(std::move(lines), *blank, text->second);
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
