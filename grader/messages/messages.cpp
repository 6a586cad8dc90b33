// SPDX-License-Identifier: Apache-2.0
#include "messages/messages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "blanks/blanks.h"
#include "blanks/utf8.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// A line doesn't begin with these.
bool stays_with_the_one_before(std::string_view character) {
  static constexpr std::string_view all = "、。，．・：；？！）］｝」』】ーぁぃぅぇぉっゃゅょァィゥェォッャュョ";
  return all.find(character) != std::string_view::npos;
}

/// What is not broken: a word, or one wide character with what stays with it.
struct Piece {
  std::string text;
  bool space = false;  // a blank stands before it
};

std::vector<Piece> pieces_of(std::string_view paragraph) {
  std::vector<Piece> pieces;
  bool space = true, after_wide = false;
  for (std::size_t at = 0; at < paragraph.size();) {
    const auto [character, size] = character_at(paragraph, at);
    const auto bytes = paragraph.substr(at, size);
    at += size;
    const bool wide = is_wide(character);
    if (bytes != " ") {
      const bool joins = !space && (wide ? stays_with_the_one_before(bytes) : !after_wide);
      if (!joins) pieces.push_back({.space = space});
      pieces.back().text += bytes;
    }
    space = bytes == " ";
    after_wide = wide;
  }
  return pieces;
}

bool ends_wide(const std::string& text) {
  return !text.empty() && is_wide(character_at(text, begin_of_character(text, text.size() - 1)).first);
}

void wrap_paragraph(const std::string& paragraph, int width, const std::string& indent,
                    std::vector<std::string>& lines) {
  std::string line;
  for (const Piece& piece : pieces_of(paragraph)) {
    const std::string space = piece.space && !line.empty() ? " " : "";
    if (!line.empty() && width_of(line + space + piece.text) + static_cast<int>(indent.size()) > width) {
      lines.push_back(indent + line);
      line = piece.text;
    } else {
      line += space + piece.text;
    }
  }
  if (!line.empty()) lines.push_back(indent + line);
}

/// What stands for a placeholder, without its braces: "n", "n|image|images", "ranks#|has|have". Nothing if there is
/// no value of that name.
std::optional<std::string> value_of(std::string_view placeholder, const std::map<std::string, std::string>& values) {
  const std::size_t bar = placeholder.find('|'), second = placeholder.find('|', bar + 1);
  std::string_view name = placeholder.substr(0, bar);
  const bool lists = name.ends_with('#');
  if (lists) name.remove_suffix(1);
  const auto value = values.find(std::string(name));
  if (value == values.end()) return {};
  if (bar == std::string_view::npos) return value->second;
  const bool is_one = lists ? value->second.find(',') == std::string::npos : value->second == "1";
  return std::string(is_one ? placeholder.substr(bar + 1, second - bar - 1) : placeholder.substr(second + 1));
}

/// The commands in a text that print for learners, with this language.
std::string with_language(const std::string& text, const std::string& language) {
  static const std::regex command(
      fmt::format(R"(\./odori (check|hint|reset|solution|status|watch)\b([ \n]({}))?( \d{{1,3}})?)",
                  fmt::join(names_of_tasks(), "|")));
  return std::regex_replace(text, command, "$& --lang " + language);
}

}  // namespace

std::map<std::string, std::string> read_sections(const fs::path& path) {
  std::map<std::string, std::string> sections;
  std::string* section = nullptr;
  for (const std::string& line : split_lines(read_file(path))) {
    if (line.starts_with("## "))
      section = &sections[std::string(trim(std::string_view(line).substr(3)))];
    else if (section && !(section->empty() && line.empty()))
      *section += line + '\n';
  }
  for (auto& [key, text] : sections) text.erase(text.find_last_not_of('\n') + 1);
  return sections;
}

Messages::Messages(const fs::path& kit, std::string language)
    : language_(std::move(language)), keeps_language_(language_ != language_of_environment()) {
  for (const bool japanese : {false, true}) {
    if (japanese && language_ != "ja") continue;
    take_folder(kit / "grader" / "messages", japanese);
    for (const Task& task : all_tasks()) take_folder(kit / "grader" / "exercises" / task.folder, japanese);
  }
  for (const Task& task : all_tasks()) {
    sections_[title_key(task)] = task.title.in(language_);
    for (int blank = 1; blank <= task.n_blanks(); ++blank)
      sections_[name_key(task, blank)] = task.blanks[static_cast<std::size_t>(blank) - 1].in(language_);
  }
}

void Messages::take_folder(const fs::path& folder, bool japanese) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".md") && name.ends_with(".ja.md") == japanese)
      for (auto& [key, text] : read_sections(entry.path())) sections_[key] = std::move(text);
  }
}

std::string Messages::text(const Finding& finding) const {
  const auto section = sections_.find(finding.key);
  std::string text = section == sections_.end() ? finding.key : section->second;
  if (section == sections_.end())
    for (const auto& [name, value] : finding.values) text += fmt::format(" {}={}", name, value);
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t close = text[at] == '{' ? text.find('}', at) : std::string::npos;
    const auto value = close == std::string::npos
                           ? std::nullopt
                           : value_of(std::string_view(text).substr(at + 1, close - at - 1), finding.values);
    if (!value) {
      filled += text[at++];
    } else {
      filled += *value;
      at = close + 1;
    }
  }
  Finding further = finding;
  const auto note = further.values.extract("note"), situation = further.values.extract("situation");
  for (const auto* key : {&note, &situation})
    if (!key->empty()) filled += "\n\n" + this->text(Finding{key->mapped(), further.values});
  return keeps_language_ ? with_language(filled, language_) : filled;
}

std::string title_key(const Task& task) { return "title_" + task.name; }

std::string name_key(const Task& task, int blank) {
  return blank == 0 ? "name_speedup" : fmt::format("name_{}_{}", task.name, blank);
}

int width_of(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    width += is_wide(character) ? 2 : 1;
    at += size;
  }
  return width;
}

std::string cut_to(std::string_view text, int columns, std::string_view mark) {
  if (width_of(text) <= columns) return std::string(text);
  std::size_t end = 0;
  for (int width = width_of(mark);;) {
    const auto [character, size] = character_at(text, end);
    width += is_wide(character) ? 2 : 1;
    if (width > columns) return std::string(text.substr(0, end)).append(mark);
    end += size;
  }
}

std::string padded(const std::string& text, int columns) {
  return text + std::string(static_cast<std::size_t>(std::max(columns - width_of(text), 0)), ' ');
}

std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> columns;
  for (const auto& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) columns[i] = std::max(columns[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], columns[i] + 2);
    line.resize(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

std::vector<std::string> wrap(const std::string& text, int width, int indent) {
  std::vector<std::string> lines;
  const std::string blanks(static_cast<std::size_t>(indent), ' ');
  std::string paragraph;
  const auto end_paragraph = [&] {
    wrap_paragraph(paragraph, width, blanks, lines);
    paragraph.clear();
  };
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("    ")) {
      end_paragraph();
      lines.push_back(blanks + line);
    } else if (line.empty()) {
      end_paragraph();
    } else {
      // Where two Japanese lines meet there is no blank.
      paragraph +=
          (paragraph.empty() || (ends_wide(paragraph) && is_wide(character_at(line, 0).first)) ? "" : " ") + line;
    }
  }
  end_paragraph();
  return lines;
}

}  // namespace odori::grader
