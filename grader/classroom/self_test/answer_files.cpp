// SPDX-License-Identifier: Apache-2.0
#include "classroom/self_test/answer_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "blanks/task.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// "CRASH|HANG"
std::vector<Verdict> verdicts_named(const std::string& names, const std::string& where) {
  std::vector<Verdict> verdicts;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, '|');) {
    const auto verdict = name == "NOT_CHECKED" ? Verdict::not_checked : verdict_named(name);
    require(verdict.has_value(), "{}: there is no verdict {}.", where, name);
    verdicts.push_back(*verdict);
  }
  return verdicts;
}

class Reader {
 public:
  Reader(const fs::path& path, const AnswerForm& form) : path_(path), form_(form) {}

  std::vector<AnswerEntry> read() {
    const std::vector<std::string> lines = split_lines(read_file(path_));
    for (line_ = 1; line_ <= static_cast<int>(lines.size()); ++line_) {
      const std::string& line = lines[static_cast<std::size_t>(line_ - 1)];
      if (in_text_)
        text_line(line);
      else
        line_between(line);
    }
    require(!in_text_, "{}: the text isn't closed.", where());
    for (const AnswerEntry& entry : entries_)
      for (const auto& texts : {entry.blanks, entry.changes})
        for (const auto& [blank, text] : texts)
          require(entry.expected.contains(blank), "{}: nothing is said of blank {}.", entry.title(), blank);
    return entries_;
  }

 private:
  std::string where() const { return path_.string() + ":" + std::to_string(line_); }

  void text_line(const std::string& line) {
    if (line == "```")
      in_text_ = nullptr;
    else
      in_text_->push_back(line);
  }

  void line_between(const std::string& line) {
    static const std::regex fact(R"(- ([\w ]+): (.+?)\s*)"), expected(R"(([\w|]+)(?: (\w+))?)"),
        of_blank(R"((cpp|sh|diff) (\d+))");
    std::smatch found, what;
    if (line.starts_with("## ")) {
      entries_.push_back({.task = {}, .file = path_.filename(), .name = line.substr(3), .line = line_});
      require(names_.insert(entries_.back().name).second, "{}: this name was there before.", where());
    } else if (std::regex_match(line, found, fact)) {
      const std::string name = found[1], value = found[2];
      if (name.find_first_not_of("0123456789") != std::string::npos) {
        require(form_.facts.contains(name), "{}: no lines \"- {}: ...\" are known here.", where(), name);
        entry().facts[name].push_back(value);
      } else {
        require(std::regex_match(value, what, expected), "{}: \"{}\" is no verdict.", where(), value);
        entry().expected[std::stoi(name)] = {verdicts_named(what[1], where()), what[2]};
      }
    } else if (line.starts_with("```")) {
      const std::string name = line.substr(3);
      if (!std::regex_match(name, what, of_blank)) {
        require(form_.texts.contains(name), "{}: no text \"{}\" is known here.", where(), name);
        in_text_ = &entry().texts[name];
      } else {
        in_text_ = &(what[1] == "diff" ? entry().changes : entry().blanks)[std::stoi(what[2])];
      }
      require(in_text_->empty(), "{}: there is such a text already.", where());
    } else {
      require(!line.starts_with("- "), "{}: this line has none of the forms of README.md.", where());
    }
  }

  AnswerEntry& entry() {
    require(!entries_.empty(), "{}: this stands before the first entry.", where());
    return entries_.back();
  }

  const fs::path path_;
  const AnswerForm& form_;
  int line_ = 0;
  std::vector<AnswerEntry> entries_;
  std::set<std::string> names_;
  std::vector<std::string>* in_text_ = nullptr;
};

/// `given` with these changes: lines "- before" and "+ after", which an empty line separates from the next change.
/// Lines are compared without their indentation.
std::vector<std::string> with_changes(std::vector<std::string> given, std::vector<std::string> changes,
                                      const std::string& where) {
  std::vector<std::string> before, after;
  changes.emplace_back();
  for (const std::string& line : changes) {
    if (line.starts_with("- ")) before.emplace_back(trim(line.substr(2)));
    if (line.starts_with("+ ")) after.push_back(line.substr(2));
    require(line.empty() || line.starts_with("- ") || line.starts_with("+ "),
            "{}: a line of a change begins with \"- \" (as it is given) or \"+ \" (the answer's).", where);
    if (!line.empty() || (before.empty() && after.empty())) continue;
    const auto same = [](const std::string& theirs, const std::string& ours) { return trim(theirs) == ours; };
    const auto at = std::search(given.begin(), given.end(), before.begin(), before.end(), same);
    require(!before.empty() && at != given.end(), "{}: the program that is given has no lines \"{}\".", where,
            fmt::join(before, " "));
    require(std::search(at + 1, given.end(), before.begin(), before.end(), same) == given.end(),
            "{}: the program that is given has the lines \"{}\" twice.", where, fmt::join(before, " "));
    given.insert(given.erase(at, at + static_cast<std::ptrdiff_t>(before.size())), after.begin(), after.end());
    before.clear(), after.clear();
  }
  return given;
}

/// Makes the texts of the blanks of which the entry has changes.
void apply_changes(AnswerEntry& entry, const fs::path& kit) {
  if (entry.changes.empty()) return;
  const fs::path solution = kit / task_named(entry.task).program.solution;
  for (const Blank& blank : parse_blanks(split_lines(filled_exercise(solution, {})), solution.string()))
    if (const auto changes = entry.changes.find(blank.number); changes != entry.changes.end())
      entry.blanks[blank.number] = with_changes(blank.text, changes->second, entry.title());
}

}  // namespace

bool Expected::allows(const BlankVerdict& seen) const {
  const bool is_one = std::find(verdicts.begin(), verdicts.end(), seen.verdict) != verdicts.end();
  return is_one && (key.empty() || (seen.finding && seen.finding->key == key));
}

std::string AnswerEntry::title() const { return fmt::format("{}:{}: {}", file, line, name); }

std::string AnswerEntry::fact(const std::string& fact) const {
  const auto found = facts.find(fact);
  return found == facts.end() ? "" : found->second.front();
}

Expected AnswerEntry::expected_of(int blank) const {
  const auto found = expected.find(blank);
  return found == expected.end() ? Expected{} : found->second;
}

std::vector<AnswerEntry> read_answer_files(const fs::path& folder, const AnswerForm& form) {
  std::set<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".md" && file.path().filename() != "README.md") files.insert(file.path());
  std::vector<AnswerEntry> all;
  for (const fs::path& file : files) std::ranges::move(Reader(file, form).read(), std::back_inserter(all));
  return all;
}

std::vector<AnswerEntry> read_corpus(const fs::path& kit) {
  std::vector<AnswerEntry> all;
  for (const Task& task : all_tasks())
    for (AnswerEntry& entry :
         read_answer_files(kit / "grader/exercises" / task.folder / "corpus", {{"en", "ja"}, {}})) {
      entry.task = task.name;
      entry.file = task.name + '/' + entry.file;
      apply_changes(entry, kit);
      all.push_back(std::move(entry));
    }
  return all;
}

std::vector<AnswerEntry> read_attacks(const fs::path& kit) {
  const AnswerForm form{{"task", "wall", "leaves", "shows", "student", "also", "slow"}, {"outside", "handed in"}};
  std::vector<AnswerEntry> all = read_answer_files(kit / "grader/attacks", form);
  for (AnswerEntry& attack : all) {
    attack.task = task_named(attack.fact("task")).name;
    apply_changes(attack, kit);
  }
  return all;
}

}  // namespace odori::grader
