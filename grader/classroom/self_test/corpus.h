// The corpus: answers with the verdicts that they must get, as grader/exercises/README.md has them.
#pragma once

#include "classroom/self_test/answer_files.h"

namespace odori::grader {

struct CorpusEntry {
  std::string task, file, name;
  int line = 0;
  std::map<int, Expected> expected;                       // by blank
  std::map<int, std::vector<std::string>> texts;          // likewise
  std::map<std::string, std::vector<std::string>> words;  // by language

  /// "multi_gpu/blank_1.md:34: the whole set for every device"
  std::string title() const;
};

/// All of them, in the order of the files. Throws Error with file:line for what the format doesn't have.
std::vector<CorpusEntry> read_corpus(const std::filesystem::path& kit);

}  // namespace odori::grader
