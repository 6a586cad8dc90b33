// SPDX-License-Identifier: Apache-2.0
// Files of answers: entries with facts and texts, as corpus/README.md and attacks/README.md show them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
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

/// An answer, or a cheating submission.
struct AnswerEntry {
  std::string task, file, name;  // file: below the folder of all tasks' answers
  int line = 0;
  std::map<std::string, std::vector<std::string>> facts;  // the values of "- NAME: VALUE", by name
  std::map<std::string, std::vector<std::string>> texts;  // the lines of each text, by the words after ```
  std::map<int, Expected> expected;                       // the facts "- 3: WRONG KEY", by blank
  std::map<int, std::vector<std::string>> blanks;         // the texts "cpp 3" and "sh 3", by blank
  std::map<int, std::vector<std::string>> changes;        // the texts "diff 3", which `blanks` holds applied

  std::string title() const;                        // "multi_gpu/blank_1.md:34: the whole set"
  std::string fact(const std::string& fact) const;  // the first value; empty if there is none
  Expected expected_of(int blank) const;            // UNFILLED where nothing is said of the blank
};

/// What entries may hold, in addition to verdicts and texts of blanks.
struct AnswerForm {
  std::set<std::string> facts, texts;
};

/// Entries of all files of a folder, in the files' order; README.md is none of them. Throws Error with file:line for
/// what the format doesn't have.
std::vector<AnswerEntry> read_answer_files(const std::filesystem::path& folder, const AnswerForm& form = {});

/// The corpus of all tasks, as grader/exercises/README.md shows it. Throws as read_answer_files().
std::vector<AnswerEntry> read_corpus(const std::filesystem::path& kit);

/// Cheating submissions, as grader/attacks/README.md shows them. Throws as read_answer_files().
std::vector<AnswerEntry> read_attacks(const std::filesystem::path& kit);

}  // namespace odori::grader
