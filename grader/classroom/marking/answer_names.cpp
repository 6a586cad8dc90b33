// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/answer_names.h"

#include <algorithm>
#include <regex>
#include <vector>

#include "blanks/task.h"

namespace odori::grader {
namespace {

const std::vector<Wanted>& all_wanted() {
  static const std::vector<Wanted> wanted = [] {
    std::vector<Wanted> all;
    for (const Task& task : all_tasks())
      for (const ExerciseFile& file : task.files())
        all.push_back({file.exercise.filename(), file.exercise.parent_path().string() + '/'});
    return all;
  }();
  return wanted;
}

/// "", " (1)", "(1)", " - Copy", " - Copy (2)", " - コピー"
bool is_copy_suffix(const std::string& text) {
  static const std::regex suffix("( - Copy| - コピー)?( ?\\([0-9]{1,3}\\))?");
  return std::regex_match(text, suffix);
}

bool is_prefix(const std::string& text) {
  return text.empty() || (text[0] != '.' && std::string("_- ").find(text.back()) != std::string::npos);
}

}  // namespace

Named wanted_named(const std::string& name) {
  Named longest;  // more_debugging.cpp is not debugging.cpp with a prefix
  for (const Wanted& wanted : all_wanted()) {
    const auto dot = wanted.name.rfind('.');
    const std::string stem = wanted.name.substr(0, dot), extension = wanted.name.substr(dot);
    const auto at = name.rfind(stem);
    if (at == std::string::npos || !name.ends_with(extension)) continue;
    const std::string prefix = name.substr(0, at), rest = name.substr(at + stem.size());
    if (is_prefix(prefix) && is_copy_suffix(rest.substr(0, rest.size() - extension.size())) &&
        (!longest.wanted || wanted.name.size() > longest.wanted->name.size()))
      longest = {&wanted, name == wanted.name, prefix};
  }
  return longest;
}

std::optional<std::string> copied_name(const std::string& name) {
  for (std::size_t at = 1; at < name.size(); ++at)
    if (is_copy_suffix(name.substr(at))) return name.substr(0, at);
  return {};
}

std::optional<MoodleOwner> moodle_owner(const std::string& name) {
  static const std::regex form("((.+)_([0-9]+))_assignsubmission_(file|onlinetext)(_.*)?");
  std::smatch part;
  if (!std::regex_match(name, part, form)) return {};
  return MoodleOwner{part[1], part[2], part[3]};
}

std::optional<std::string> owner_of_loose(const std::string& name) {
  if (const auto moodle = moodle_owner(name)) return moodle->folder;
  std::string owner = wanted_named(name).prefix;
  owner.resize(owner.find_last_not_of("_- ") + 1);
  return owner.empty() ? std::nullopt : std::optional(owner);
}

bool is_folder_of_answers(const std::string& name) {
  return name == "exercises" || name == "jobscripts" ||
         std::ranges::any_of(all_tasks(), [&](const Task& task) { return name == task.folder; });
}

bool is_folder_without_answers(const std::string& name) { return name == "solutions" || name == "out"; }

}  // namespace odori::grader
