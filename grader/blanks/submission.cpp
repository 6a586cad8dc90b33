// SPDX-License-Identifier: Apache-2.0
#include "blanks/submission.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>

#include "blanks/task.h"
#include "blanks/utf8.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes_of_file = 100'000;

/// A line that begins (number > 0) or ends (0) a blank.
struct MarkedLine {
  int line = 0, number = 0;
};

/// The marks of a file that anything may have happened to: unlike parse_blanks, nothing is an error here.
std::vector<MarkedLine> find_marks(const std::vector<std::string>& lines, Language language) {
  std::vector<MarkedLine> marks;
  for (int n = 1; n <= static_cast<int>(lines.size()); ++n) {
    const auto comment = comment_of(lines[n - 1], language);
    if (!comment) continue;
    if (*comment == "END BLANK") marks.push_back({n, 0});
    if (const auto mark = blank_mark_of(*comment)) marks.push_back({n, mark->number});
  }
  return marks;
}

/// Takes blank `n` out of the file, or says why it can't be.
void take_blank(int n, const std::vector<MarkedLine>& marks, const std::map<int, Blank>& kits, Language language,
                Submission& submission) {
  const auto begin = std::ranges::find(marks, n, &MarkedLine::number);
  const auto unreadable = [&](const char* key, const std::map<std::string, int>& lines = {}) {
    Finding& finding = submission.unreadable[n] = {key, {{"blank", std::to_string(n)}}};
    for (const auto& [name, line] : lines) finding.values[name] = std::to_string(line);
  };
  if (begin == marks.end()) {
    for (const MarkedLine& mark : marks)
      if (mark.number > 0 && !kits.contains(mark.number))
        return unreadable("blank_renumbered", {{"line", mark.line}, {"other", mark.number}});
    return unreadable("blank_missing");
  }
  if (const auto again = std::ranges::find(begin + 1, marks.end(), n, &MarkedLine::number); again != marks.end())
    return unreadable("blank_twice", {{"line", begin->line}, {"again", again->line}});
  const auto end = begin + 1;
  if (end == marks.end()) return unreadable("blank_not_closed", {{"line", begin->line}});
  if (end->number > 0)
    return unreadable("blank_nested", {{"line", begin->line}, {"inner", end->number}, {"inner_line", end->line}});
  // A second end belongs to the next blank, if that has lost its first line.
  const bool next_is_there =
      !kits.contains(n + 1) || std::ranges::find(marks, n + 1, &MarkedLine::number) != marks.end();
  if (end + 1 != marks.end() && end[1].number == 0 && next_is_there)
    return unreadable("end_twice", {{"line", end->line}, {"again", end[1].line}});

  Blank blank{.number = n, .first_line = begin->line, .text_line = begin->line + 1, .last_line = end->line};
  const auto& lines = submission.lines;
  // The question's comment; not one that goes on in the next line, which wouldn't be read as a comment's there.
  const auto is_whole_comment = [&](std::string_view line) {
    return comment_of(line, language) && !(language == Language::cpp && trim(line).ends_with('\\'));
  };
  while (blank.text_line < blank.last_line && is_whole_comment(lines[blank.text_line - 1])) ++blank.text_line;
  blank.text.assign(lines.begin() + blank.text_line - 1, lines.begin() + blank.last_line - 1);
  if (!is_unfilled(kits.at(n), language)) blank.given = kits.at(n).text;
  submission.blanks[n] = std::move(blank);
}

/// Why no blank can be taken out of this file, if so.
std::optional<Finding> reason_against(const std::string& text) {
  if (text.size() > most_bytes_of_file)
    return Finding{"file_huge", {{"kilobytes", std::to_string(most_bytes_of_file / 1000)}}};
  if (text.find('\0') != std::string::npos || text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return Finding{"file_binary", {}};
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Finding{"file_empty", {}};
  return {};
}

/// Reads no more of a file than shows that it is too long.
std::string read_some(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most_bytes_of_file + 1, '\0');
  if (fs::is_directory(path) || !file)
    throw EnvironmentFault({"file_unreadable", {{"file", path.string()}, {"reason", std::strerror(errno)}}});
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The task that a program says it is of, in what it gives to parse_arguments(); "" if it says none.
std::string task_in(const std::string& program) {
  constexpr std::string_view begins = ".name = \"";
  const auto at = program.find(begins);
  if (at == std::string::npos) return {};
  const auto name = at + begins.size();
  return program.substr(name, program.find('"', name) - name);
}

/// Is it another task's file, saved or handed in under this one's name?
std::optional<Finding> find_another_task(const std::string& text, const std::string& exercise) {
  const std::string seen = task_in(text), expected = task_in(exercise);
  const bool is_known =
      std::ranges::any_of(all_tasks(), [&](const Task& task) { return task.name == seen && seen != expected; });
  if (expected.empty() || !is_known) return {};
  return Finding{"file_of_another_task", {{"task", seen}, {"expected", expected}}};
}

/// A line to compare: how it is indented and spaced doesn't matter.
struct Line {
  int number = 0;
  std::string text, squeezed;
};

/// The code outside the blanks' texts.
std::vector<Line> code_outside(const std::vector<std::string>& lines, const std::map<int, Blank>& blanks,
                               Language language) {
  std::vector<Line> code;
  for (int n = 1; n <= static_cast<int>(lines.size()); ++n) {
    const bool inside = std::any_of(blanks.begin(), blanks.end(), [n](const auto& entry) {
      return entry.second.first_line <= n && n <= entry.second.last_line;
    });
    if (inside || comment_of(lines[n - 1], language)) continue;
    Line line{n, lines[n - 1], {}};
    for (const char c : line.text)
      if (!std::isspace(static_cast<unsigned char>(c))) line.squeezed += c;
    if (!line.squeezed.empty()) code.push_back(std::move(line));
  }
  return code;
}

/// What has to be left out of `ours` and put back from `kits`, by their longest common subsequence.
std::vector<Change> compare(const std::vector<Line>& kits, const std::vector<Line>& ours, int n_lines) {
  const std::size_t width = ours.size() + 1;
  std::vector<std::uint16_t> common((kits.size() + 1) * width);  // of kits[i ..] and ours[j ..]
  for (std::size_t i = kits.size(); i-- > 0;)
    for (std::size_t j = ours.size(); j-- > 0;)
      common[i * width + j] = kits[i].squeezed == ours[j].squeezed
                                  ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                                  : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  std::vector<Change> changes;
  std::size_t i = 0, j = 0;
  while (i < kits.size() || j < ours.size()) {
    if (i < kits.size() && j < ours.size() && kits[i].squeezed == ours[j].squeezed) {
      ++i, ++j;
    } else if (i == kits.size() || (j < ours.size() && common[i * width + j + 1] >= common[(i + 1) * width + j])) {
      changes.push_back({ours[j].number, false, ours[j].text});
      ++j;
    } else {
      changes.push_back({j < ours.size() ? ours[j].number : n_lines, true, kits[i].text});
      ++i;
    }
  }
  return changes;
}

}  // namespace

Submission read_submission(const fs::path& path, const std::string& exercise) {
  Submission submission{.path = path};
  const Language language = language_of(path.string());
  const std::vector<std::string> kits_lines = split_lines(exercise);
  std::map<int, Blank> kits;
  for (const Blank& blank : parse_blanks(kits_lines, path.string())) kits[blank.number] = blank;
  std::optional<Finding> reason;
  if (!fs::exists(path)) {
    reason = Finding{"file_missing", {}};
  } else {
    std::string text = read_some(path);
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    reason = reason_against(text);
    if (!reason) reason = find_another_task(text, exercise);
    if (!reason) submission.lines = as_utf8(split_lines(text));
  }
  const std::vector<MarkedLine> marks = find_marks(submission.lines, language);
  if (!reason && marks.empty()) reason = Finding{"no_marks", {}};
  if (reason) {
    reason->values["file"] = path.string();
    for (const auto& [n, blank] : kits) submission.unreadable[n] = *reason;
    return submission;
  }
  for (const auto& [n, blank] : kits) take_blank(n, marks, kits, language, submission);
  submission.changes =
      compare(code_outside(kits_lines, kits, language), code_outside(submission.lines, submission.blanks, language),
              static_cast<int>(submission.lines.size()));
  return submission;
}

bool hides_answers(const Finding& finding) {
  static const std::set<std::string> keys{"no_marks",         "blank_missing", "blank_renumbered",    "blank_twice",
                                          "blank_not_closed", "blank_nested",  "end_twice",           "file_empty",
                                          "file_binary",      "file_huge",     "file_of_another_task"};
  return keys.contains(finding.key);
}

fs::path keep_copy(const fs::path& path, const fs::path& kit) {
  const std::time_t now = std::time(nullptr);
  const std::string date = fmt::format("{:%Y%m%d_%H%M%S}", *std::localtime(&now));
  const auto name = [&](const std::string& more) {
    return kit / "out" / "kept" / fmt::format("{}.{}{}{}", path.stem().string(), date, more, path.extension().string());
  };
  fs::path copy = name("");
  for (int i = 2; fs::exists(copy); ++i) copy = name(fmt::format("_{}", i));  // twice in a second
  std::error_code error;
  fs::create_directories(copy.parent_path(), error);
  fs::copy_file(path, copy, error);
  require(!error, "{} can't be copied to {}: {}. Nothing was changed.", path.string(), copy.string(), error.message());
  return copy;
}

}  // namespace odori::grader
