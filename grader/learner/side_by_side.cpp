// SPDX-License-Identifier: Apache-2.0
#include "learner/side_by_side.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "blanks/cutter.h"
#include "errors/error.h"
#include "learner/pages.h"  // made by CMake
#include "report/html.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Identifiers and numbers.
std::vector<std::string_view> words_of(std::string_view code) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t begin = i;
    while (i < code.size() && is_of_word(code[i])) ++i;
    if (i > begin) words.push_back(code.substr(begin, i - begin));
  }
  return words;
}

/// For each word of `words`: is it in the longest common subsequence with `baseline`?
std::vector<bool> common_words(const std::vector<std::string_view>& words,
                               const std::vector<std::string_view>& baseline) {
  const std::size_t n = words.size(), m = baseline.size();
  std::vector<std::vector<int>> longest(n + 1, std::vector<int>(m + 1));  // of the words from i and j on
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      longest[i][j] =
          words[i] == baseline[j] ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  std::vector<bool> common(n);
  for (std::size_t i = 0, j = 0; i < n && j < m;)
    if (words[i] == baseline[j]) {
      common[i++] = true;
      ++j;
    } else {
      longest[i + 1][j] >= longest[i][j + 1] ? ++i : ++j;
    }
  return common;
}

/// The lines without the space that all begin with, and without empty lines at both ends.
std::string unindented(std::vector<std::string> lines) {
  const auto is_empty = [](const std::string& line) { return line.find_first_not_of(" \t") == line.npos; };
  while (!lines.empty() && is_empty(lines.back())) lines.pop_back();
  while (!lines.empty() && is_empty(lines.front())) lines.erase(lines.begin());
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines)
    if (!is_empty(line)) indent = std::min(indent, line.find_first_not_of(" \t"));
  for (std::string& line : lines) line.erase(0, std::min(indent, line.size()));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// One of the programs: the kit's lines, and the learner's answers in them. A program without a file holds the code
/// that side_by_side.json quotes.
class Program {
 public:
  Program(const Question& question, const Answers& answers, const std::string& file) : file_(file) {
    if (file.empty()) return;
    const fs::path solution = question.kit / "solutions" / file;
    const std::string kits = read_file(solution);
    require(!kits.empty(), "{} can't be read.", solution.string());
    const std::string exercise = cut(kits, solution.string());
    kits_ = split_lines(exercise);
    answers_ = fs::path("exercises") / file == question.task.program.exercise
                   ? answers.program
                   : read_submission(question.kit / "exercises" / file, exercise);
  }

  /// The learner's answer to a blank; nothing if there is none.
  std::optional<std::string> answer(int number) const {
    require(!file_.empty(), "side_by_side.json asks for blank {} of a program that has no file.", number);
    const auto blank = answers_.blanks.find(number);
    if (blank == answers_.blanks.end() || is_left_empty(blank->second, Language::cpp)) return std::nullopt;
    return unindented(blank->second.text);
  }

  /// The kit's statement that contains `text`, in one line (columns of a page are narrow), without comments.
  std::string statement(const std::string& text) const {
    if (file_.empty()) return text;
    const auto has_it = [&](const std::string& line) { return line.find(text) != line.npos; };
    require(std::ranges::count_if(kits_, has_it) == 1, "\"{}\" should be in one line of {}, but is in {}.", text, file_,
            std::ranges::count_if(kits_, has_it));
    std::string statement;
    for (auto line = std::ranges::find_if(kits_, has_it); line != kits_.end() && !statement.ends_with(';'); ++line)
      statement += (statement.empty() ? "" : " ") + std::string(trim(line->substr(0, line->find("  // "))));
    return statement;
  }

 private:
  std::string file_;
  std::vector<std::string> kits_;
  Submission answers_;
};

/// What a program has in a step: the code, and the blanks that are not filled in yet.
struct Cell {
  std::string code;
  std::vector<int> missing;
};

Cell cell_of(const Program& program, const Json& items) {
  Cell cell;
  std::vector<std::string> code;
  for (const Json& item : items)
    if (!item.is_number())
      code.push_back(program.statement(item.get<std::string>()));
    else if (const auto answer = program.answer(item.get<int>()))
      code.push_back(*answer);
    else
      cell.missing.push_back(item.get<int>());
  cell.code = fmt::format("{}", fmt::join(code, "\n"));
  return cell;
}

Json json_of(const std::vector<CodePart>& parts) {
  Json json = Json::array();
  for (const CodePart& part : parts) json.push_back({{"text", part.text}, {"added", part.added}});
  return json;
}

}  // namespace

std::vector<CodePart> compare_code(std::string_view code, std::string_view baseline) {
  const std::vector<std::string_view> words = words_of(code);
  const std::vector<bool> common = common_words(words, words_of(baseline));
  std::vector<CodePart> parts;
  const auto add = [&](std::string_view text, bool added) {
    if (text.empty()) return;
    if (parts.empty() || parts.back().added != added) parts.push_back({"", added});
    parts.back().text += text;
  };
  const char* at = code.data();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view between(at, static_cast<std::size_t>(words[i].data() - at));
    add(between, i > 0 && !common[i - 1] && !common[i] && between.find('\n') == between.npos);
    add(words[i], !common[i]);
    at = words[i].data() + words[i].size();
  }
  add({at, static_cast<std::size_t>(code.data() + code.size() - at)}, false);
  return parts;
}

std::optional<std::string> side_by_side_page(const Question& question, const Answers& answers,
                                             const Messages& messages) try {
  const std::string text = read_file(question.kit / "grader/exercises" / question.task.folder / "side_by_side.json");
  if (text.empty()) return std::nullopt;
  const Json json = Json::parse(text);
  const auto in_words = [&](const Json& texts) { return texts.at(messages.language()).get<std::string>(); };
  std::vector<Program> programs;
  for (const Json& program : json.at("programs"))
    programs.emplace_back(question, answers, program.value("file", std::string()));
  Json steps = Json::array();
  for (const Json& step : json.at("steps")) {
    require(step.at("code").size() == programs.size(), "A step of side_by_side.json has {} entries for {} programs.",
            step.at("code").size(), programs.size());
    Json cells = Json::array();
    std::string baseline;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const Json& program = json["programs"][i];
      const Cell cell = cell_of(programs[i], step["code"][i]);
      if (i == 0) baseline = cell.code;
      const bool is_quoted = !program.contains("file");
      const auto parts = compare_code(cell.code, is_quoted ? step.value("quoted_baseline", std::string()) : baseline);
      std::vector<std::string> notes;
      for (const int blank : cell.missing)
        notes.push_back(messages.text("side_by_side_unfilled", {{"blank", std::to_string(blank)}}));
      if (cell.code.empty() && notes.empty()) notes.push_back(messages.text("side_by_side_nothing"));
      cells.push_back({{"program", in_words(program.at("name"))},
                       {"parts", json_of(parts)},
                       {"code", cell.code},
                       {"notes", notes}});
    }
    steps.push_back({{"name", in_words(step.at("name"))}, {"cells", std::move(cells)}});
  }
  return html::render(pages::side_by_side_html, {{"lang", messages.language()},
                                                 {"one_language", true},
                                                 {"title", in_words(json.at("title"))},
                                                 {"text", in_words(json.at("text"))},
                                                 {"steps", std::move(steps)}});
} catch (const Json::exception& error) {
  throw Error(fmt::format("side_by_side.json of {} can't be used: {}", question.task.name, error.what()));
}

}  // namespace odori::grader
