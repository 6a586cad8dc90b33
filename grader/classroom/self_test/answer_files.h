// Files of answers: entries with facts and texts, as corpus/README.md and attacks/README.md show them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/verdict.h"

namespace odori::grader {

/// What a blank must get.
struct Expected {
  std::vector<Verdict> verdicts = {Verdict::unfilled};  // one of them; several where it is up to MPI how a program dies
  std::string key;                                      // of the message; empty: any
  bool passes() const { return verdicts.front() == Verdict::pass; }
  bool allows(const BlankVerdict& seen) const;
};

/// UNFILLED where nothing is said of the blank.
Expected expected_of(const std::map<int, Expected>& said, int blank);

struct AnswerEntry {
  std::string file, name;  // the file's name without its folders
  int line = 0;
  std::vector<std::pair<std::string, std::string>> facts;               // "- NAME: VALUE", in order
  std::vector<std::pair<std::string, std::vector<std::string>>> texts;  // what stands behind ``` , and the lines
  std::map<int, Expected> expected;                                     // the facts "- 3: WRONG KEY", by blank
  std::map<int, std::vector<std::string>> blanks;                       // the texts "cpp 3" and "sh 3", by blank
  std::string title() const;                                            // "blank_1.md:34: the whole set"
};

/// Entries of all files of a folder, in the files' order; README.md is none of them. Facts and texts of blanks are
/// taken out of the other ones. Throws Error with file:line for what the format doesn't have.
std::vector<AnswerEntry> read_answer_files(const std::filesystem::path& folder);

}  // namespace odori::grader
