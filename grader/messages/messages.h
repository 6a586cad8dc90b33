// SPDX-License-Identifier: Apache-2.0
// The words of messages/: what a finding's key means, in the learner's language.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"
#include "blanks/task.h"
#include "errors/language.h"

namespace odori::grader {

/// The sections of one file: "## key", and the text below it.
std::map<std::string, std::string> read_sections(const std::filesystem::path& path);

class Messages {
 public:
  /// KIT/grader/messages/*.md and KIT/grader/exercises/*/*.md, and *.ja.md over them where `language` is "ja"; and the
  /// titles of exercises and blanks.
  Messages(const std::filesystem::path& kit, std::string language);

  const std::string& language() const { return language_; }
  /// The section with its {placeholders} filled in; the key and its values themselves where there is no such section.
  /// {n|image|images} is the first word where the value of n is 1, else the second; {ranks#|has|have} the first
  /// where ranks lists one thing ("3"), else the second ("0, 3"). Commands in messages to learners keep a language that
  /// the environment doesn't ask for: "./odori hint multi_gpu 3 --lang ja".
  std::string text(const Finding& finding) const;
  std::string text(const std::string& key, std::map<std::string, std::string> values = {}) const {
    return text(Finding{key, std::move(values)});
  }

 private:
  void take_folder(const std::filesystem::path& folder, bool japanese);

  std::string language_;
  bool keeps_language_;  // in the commands that are suggested
  std::map<std::string, std::string> sections_;
};

/// The key of an exercise's title.
std::string title_key(const Task& task);
/// The key of a blank's title: "name_multi_gpu_3", and "name_speedup" for blank 0.
std::string name_key(const Task& task, int blank);

/// How many columns a text takes on a terminal: two for each Chinese or Japanese character.
int width_of(std::string_view text);
/// As much of it as fits into that many columns; `mark` replaces the rest.
std::string cut_to(std::string_view text, int columns, std::string_view mark = "");

std::string padded(const std::string& text, int columns);
/// The lines of a table: columns as wide as their widest cell, two blanks between them.
std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows);

/// The text broken into lines of at most `width` columns, each with `indent` blanks in front. Lines that begin with
/// four blanks (code) are unchanged; other lines that follow each other are one paragraph.
std::vector<std::string> wrap(const std::string& text, int width, int indent);

}  // namespace odori::grader
