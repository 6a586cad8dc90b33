#include "exercise/blanks.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "exercise/lexer.h"

namespace odori::grader {
namespace {

constexpr std::string_view placeholder = "PUT_YOUR_CODE";

struct Mark {
  int number;
  std::string question;
};

/// "BLANK 3: question". Anything else that begins with BLANK and isn't quite that is an error: a mark that is
/// mistyped must not go unseen.
std::optional<Mark> read_mark(std::string_view comment, const std::string& where) {
  if (!comment.starts_with("BLANK ")) return {};
  const std::string_view rest = trim(comment.substr(6));
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  require(error == std::errc() && end != rest.data() + rest.size() && *end == ':' && number > 0,
          "{}: \"{}\" isn't a blank's first line. It should read \"BLANK 1: question\".", where, comment);
  const std::string_view question = trim(rest.substr(end + 1 - rest.data()));
  require(!question.empty(), "{}: blank {} asks no question. Write one behind the colon.", where, number);
  return Mark{number, std::string(question)};
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

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<Blank> parse_blanks(const std::vector<std::string>& lines, const std::string& path) {
  const Language language = language_of(path);
  std::vector<Blank> blanks;
  bool inside = false, in_question = false;
  for (int n = 1; n <= static_cast<int>(lines.size()); ++n) {
    const std::string& line = lines[n - 1];
    const std::string where = fmt::format("{}:{}", path, n);
    const auto comment = comment_of(line, language);
    if (const auto mark = comment ? read_mark(*comment, where) : std::nullopt) {
      if (inside)
        fail("{}: blank {} begins inside blank {}, which began in line {}. Close that one with END BLANK.", where,
             mark->number, blanks.back().number, blanks.back().first_line);
      if (!blanks.empty() && mark->number != blanks.back().number + 1)
        fail("{}: blank {} follows blank {}. Number them in order, without gaps.", where, mark->number,
             blanks.back().number);
      blanks.push_back({.number = mark->number, .question = mark->question, .first_line = n});
      inside = in_question = true;
    } else if (comment == "END BLANK") {
      require(inside, "{}: END BLANK, but no blank is open here.", where);
      Blank& blank = blanks.back();
      blank.last_line = n;
      if (in_question) blank.text_line = n;
      inside = in_question = false;
    } else if (in_question && comment) {
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

bool is_left_empty(const Blank& blank, Language language) {
  if (is_unfilled(blank, language)) return true;
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
