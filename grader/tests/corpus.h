// The corpus: answers with the verdicts that they must get, as grader/corpus/README.md has them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checks/verdict.h"
#include "exercise/task.h"

namespace odori::grader {

struct Expected {
  std::vector<Verdict> verdicts = {Verdict::unfilled};  // one of them; several where it is up to MPI how a program dies
  std::string key;                                      // of the message; empty: any
  bool passes() const { return verdicts.front() == Verdict::pass; }
};

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
std::vector<CorpusEntry> read_corpus(const std::filesystem::path& folder);

}  // namespace odori::grader
