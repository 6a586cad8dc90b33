// SPDX-License-Identifier: Apache-2.0
#include "authoring/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "errors/text.h"
#include "files/file.h"
#include "messages/messages.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Sections = std::map<std::string, std::string>;

fs::path in_japanese(const fs::path& english) { return fs::path(english).replace_extension(".ja.md"); }

std::set<std::string> matches_in(const std::string& text, const std::regex& pattern, int group) {
  return {std::sregex_token_iterator(text.begin(), text.end(), pattern, group), std::sregex_token_iterator()};
}

/// Does it consist of lines that wrap() leaves as they are? Code is the same in all languages.
bool is_code(const std::string& text) {
  return std::ranges::all_of(split_lines(text),
                             [](const std::string& line) { return line.empty() || line.starts_with("    "); });
}

/// Sections of the file that have the text of another one.
void add_equal_sections(const fs::path& path, std::vector<std::string>& faults) {
  Sections key_of;
  for (const auto& [key, text] : read_sections(path))
    if (const auto [first, is_new] = key_of.emplace(text, key); !is_new)
      faults.push_back(fmt::format("{}: {} has the same text as {}.", path.string(), key, first->second));
}

void add_faults_of_hints(const fs::path& path, int n_blanks, std::vector<std::string>& faults) {
  std::set<std::string> wanted;
  for (int blank = 1; blank <= n_blanks; ++blank)
    for (int step = 1; step <= 3; ++step) wanted.insert(fmt::format("{}.{}", blank, step));
  const Sections hints = read_sections(path);
  for (const std::string& key : wanted)
    if (!hints.contains(key)) faults.push_back(fmt::format("{}: there is no hint {}.", path.string(), key));
  for (const auto& [key, text] : hints)
    if (!wanted.contains(key)) faults.push_back(fmt::format("{}: {} is no hint of a blank.", path.string(), key));
}

/// Each message's key with its English file: of grader/messages, of every exercise, and last of this one, so that a key
/// that is in two files has another's.
std::map<std::string, fs::path> files_of_keys(const fs::path& kit, const Task& task) {
  std::vector<fs::path> folders{kit / "grader/messages"};
  for (const auto& folder : fs::directory_iterator(kit / "grader/exercises"))
    if (folder.is_directory() && folder.path().filename() != task.folder) folders.push_back(folder.path());
  folders.push_back(kit / "grader/exercises" / task.folder);
  std::map<std::string, fs::path> files;
  for (const fs::path& folder : folders)
    for (const auto& file : fs::directory_iterator(folder))
      if (const std::string name = file.path().filename(); name.ends_with(".md") && !name.ends_with(".ja.md"))
        for (const auto& [key, text] : read_sections(file.path())) files.emplace(key, file.path());
  return files;
}

}  // namespace

std::vector<std::string> differences_of_languages(const fs::path& english) {
  static const std::regex placeholder(R"(\{[a-z_0-9]+\})");
  const fs::path japanese = in_japanese(english);
  for (const fs::path& path : {english, japanese})
    if (!fs::exists(path)) return {fmt::format("{} is missing.", path.string())};
  const Sections texts = read_sections(english), translated = read_sections(japanese);
  std::vector<std::string> faults;
  const auto fault = [&](const fs::path& path, const std::string& key, const char* what) {
    faults.push_back(fmt::format("{}: {} {}.", path.string(), key, what));
  };
  for (const auto& [key, text] : texts) {
    const auto other = translated.find(key);
    if (text.empty()) fault(english, key, "is empty");
    if (other == translated.end())
      fault(japanese, key, "is missing");
    else if (text == other->second && !is_code(text))
      fault(japanese, key, "has the English text");
    else if (matches_in(text, placeholder, 0) != matches_in(other->second, placeholder, 0))
      fault(japanese, key, "has other {placeholders} than the English text");
  }
  for (const auto& [key, text] : translated) {
    if (text.empty()) fault(japanese, key, "is empty");
    if (!texts.contains(key)) fault(english, key, "is missing");
  }
  return faults;
}

std::vector<std::string> faults_of_texts(const fs::path& kit, const Task& task) {
  const fs::path hints = kit / "solutions" / task.folder / "hints.md", checks = kit / "grader/exercises" / task.folder,
                 messages = checks / "messages.md";
  std::vector<std::string> faults;
  for (const fs::path& english : {hints, messages}) {
    const auto differences = differences_of_languages(english);
    faults.insert(faults.end(), differences.begin(), differences.end());
    for (const fs::path& path : {english, in_japanese(english)})
      if (fs::exists(path)) add_equal_sections(path, faults);
  }
  for (const fs::path& path : {hints, in_japanese(hints)})
    if (fs::exists(path)) add_faults_of_hints(path, task.n_blanks(), faults);
  const std::map<std::string, fs::path> files = files_of_keys(kit, task);
  for (const auto& [key, text] : fs::exists(messages) ? read_sections(messages) : Sections())
    if (const fs::path& other = files.at(key); other != messages)
      faults.push_back(
          fmt::format("{}: {} has a message {} too, and a key has one message in the kit. Choose another name.",
                      messages.string(), fs::relative(other, kit).string(), key));
  const auto is_of_task = [&](const fs::path& file) {
    return file.parent_path() == checks || file.parent_path() == kit / "grader/messages";
  };
  static const std::regex used(R"re(\b(?:found\(|Finding\{)"([a-z_0-9]+)")re");
  for (const auto& file : fs::directory_iterator(checks))
    if (file.path().extension() == ".cpp" && !file.path().stem().string().ends_with("_test"))
      for (const std::string& key : matches_in(read_file(file.path()), used, 1))
        if (const auto known = files.find(key); known == files.end() || !is_of_task(known->second))
          faults.push_back(fmt::format("{}: there is no message {}.", file.path().string(), key));
  return faults;
}

std::string fault_of_message(const fs::path& kit, const Task& task, const Finding& finding) {
  const std::map<std::string, fs::path> files = files_of_keys(kit, task);
  const auto file = files.find(finding.key);
  if (file == files.end())
    return fmt::format("grader/exercises/{}/messages.md: a check reports {}, and there is no such message.",
                       task.folder.string(), finding.key);
  // {n}, {n|image|images} and {ranks#|rank|ranks}
  static const std::regex placeholder(R"(\{([a-z_][a-z_0-9]*)(?:#?\|[^{}]*)?\})");
  for (const std::string& name : matches_in(read_sections(file->second).at(finding.key), placeholder, 1))
    if (!finding.values.contains(name))
      return fmt::format("{}: {} has a placeholder {{{}}}, and a check that reports it gives no such value.",
                         fs::relative(file->second, kit).string(), finding.key, name);
  return "";
}

}  // namespace odori::grader
