// SPDX-License-Identifier: Apache-2.0
#include "authoring/equivalent.h"

#include <fmt/format.h>

#include <set>

#include "errors/error.h"
#include "files/file.h"

namespace odori::grader {

namespace fs = std::filesystem;

std::map<LineChange, std::string> read_equivalents(const fs::path& path) {
  std::map<LineChange, std::string> reasons;
  if (!exists(path)) return reasons;
  std::string reason;
  LineChange change;
  bool inside = false;
  int n = 0;
  for (const std::string& line : split_lines(read_file(path))) {
    const std::string where = fmt::format("{}:{}", path.string(), ++n);
    if (line == "```diff") {
      require(!reason.empty(), "{}: this change has no reason. Write it above, as a heading: ## Why it is right.",
              where);
      inside = true;
      change = {};
    } else if (line == "```" && inside) {
      require(reasons.emplace(change, reason).second, "{}: this change is listed above already.", where);
      inside = false;
    } else if (inside) {
      require(line.starts_with("- ") || line.starts_with("+ "),
              "{}: a line of a change begins with \"- \" (the answer's) or \"+ \" (the mutant's).", where);
      (line.starts_with("- ") ? change.before : change.after).emplace_back(trim(line.substr(2)));
    } else if (line.starts_with("## ")) {
      reason = trim(line.substr(3));
    }
  }
  require(!inside, "{}: the last change is not closed by ```.", path.string());
  return reasons;
}

std::map<int, Blank> answers_of(const fs::path& kit, const Task& task) {
  std::map<int, Blank> answers;
  for (const ExerciseFile& file : task.files())
    for (Blank& blank : parse_blanks(split_lines(read_file(kit / file.solution)), file.solution.string()))
      answers.emplace(blank.number, std::move(blank));
  return answers;
}

std::vector<std::string> outdated(const std::map<LineChange, std::string>& equivalents,
                                  const std::map<int, Blank>& answers, const Task& task) {
  std::set<LineChange> made;
  for (const auto& [number, blank] : answers) {
    const Language language = task.is_in_script(number) ? Language::shell : Language::cpp;
    for (const Mutant& mutant : mutants_of(blank, language, task.siblings)) made.insert(change_of(blank.text, mutant));
  }
  std::vector<std::string> sentences;
  for (const auto& [change, reason] : equivalents)
    if (!made.contains(change))
      sentences.push_back(fmt::format("solutions/{}/equivalent.md lists a change that no mutant makes (\"{}\"):\n{}",
                                      task.folder.string(), reason, as_diff(change)));
  return sentences;
}

std::string as_diff(const LineChange& change) {
  std::string text = "```diff\n";
  for (const std::string& line : change.before) text += "- " + line + '\n';
  for (const std::string& line : change.after) text += "+ " + line + '\n';
  return text + "```\n";
}

}  // namespace odori::grader
