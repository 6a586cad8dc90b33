#include "corpus.h"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "core/error.h"
#include "exercise/blanks.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

Verdict verdict_in(const std::string& word, const std::string& where) {
  const auto verdict = verdict_named(word == "NOT_CHECKED" ? name_of(Verdict::not_checked) : word);
  require(verdict.has_value(), "{}: there is no verdict {}.", where, word);
  return *verdict;
}

/// "CRASH|HANG"
std::vector<Verdict> verdicts_named(std::string words, const std::string& where) {
  std::vector<Verdict> verdicts;
  for (std::istringstream list(words); std::getline(list, words, '|');) verdicts.push_back(verdict_in(words, where));
  return verdicts;
}

class Reader {
 public:
  Reader(const std::string& task, const fs::path& path) : task_(task), path_(path) {}

  std::vector<CorpusEntry> read() {
    const std::vector<std::string> lines = split_lines(read_file(path_));
    for (line_ = 1; line_ <= static_cast<int>(lines.size()); ++line_) {
      const std::string& line = lines[static_cast<std::size_t>(line_ - 1)];
      if (in_text_)
        text_line(line);
      else
        line_between(line);
    }
    require(!in_text_, "{}: the text isn't closed.", where());
    for (const CorpusEntry& entry : entries_)
      for (const auto& [blank, text] : entry.texts)
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
    static const std::regex expected(R"(- (\d+): ([\w|]+)(?: (\w+))?\s*)"), words(R"(- (en|ja): (.+))"),
        text(R"(```(?:cpp|sh) (\d+))");
    std::smatch found;
    if (line.starts_with("## ")) {
      entries_.push_back({.task = task_, .file = path_.filename(), .name = line.substr(3), .line = line_});
      require(names_.insert(entries_.back().name).second, "{}: this name was there before.", where());
    } else if (std::regex_match(line, found, expected)) {
      entry().expected[std::stoi(found[1])] = {verdicts_named(found[2], where()), found[3]};
    } else if (std::regex_match(line, found, words)) {
      entry().words[found[1]].push_back(found[2]);
    } else if (std::regex_match(line, found, text)) {
      in_text_ = &entry().texts[std::stoi(found[1])];
      require(in_text_->empty(), "{}: blank {} has a text already.", where(), found[1].str());
    } else {
      require(!line.starts_with("- ") && !line.starts_with("```"), "{}: this line has none of the forms of README.md.",
              where());
    }
  }

  CorpusEntry& entry() {
    require(!entries_.empty(), "{}: this stands before the first entry.", where());
    return entries_.back();
  }

  std::string task_;
  fs::path path_;
  int line_ = 0;
  std::vector<CorpusEntry> entries_;
  std::set<std::string> names_;
  std::vector<std::string>* in_text_ = nullptr;
};

}  // namespace

std::string CorpusEntry::title() const { return fmt::format("{}/{}:{}: {}", task, file, line, name); }

std::vector<CorpusEntry> read_corpus(const fs::path& folder) {
  std::vector<CorpusEntry> all;
  for (const Task& task : all_tasks()) {
    std::set<fs::path> files;
    for (const auto& file : fs::directory_iterator(folder / task.name)) files.insert(file.path());
    for (const fs::path& file : files) {
      const std::vector<CorpusEntry> entries = Reader(task.name, file).read();
      all.insert(all.end(), entries.begin(), entries.end());
    }
  }
  return all;
}

}  // namespace odori::grader
