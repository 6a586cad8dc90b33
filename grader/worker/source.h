// The source files that a check builds: the kit's program with chosen texts in its blanks, several times in one file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exercise/submission.h"

namespace odori::grader {

/// The program once, all that follows its includes, in a namespace of its own.
struct Variant {
  std::string name;        // "whole", "blank_3": a first argument of the built program chooses it by this name
  std::set<int> learners;  // these blanks hold the learner's text, all others the kit's
  bool operator==(const Variant&) const = default;
};

/// One source file, of these variants and a main that chooses. Its lines carry the learner's line numbers under the
/// variant's name as the file ("blank_3:57"); the kit's answers are in a file "blank_3.kit", so that they are never
/// shown. Of the learner's texts it holds no comments, and the kit's name the library's things in full. Where a
/// variant has left its last blank behind, it tells the evidence so. Names that no answer needs are refused
/// (worker/refused_names). `solution` is the pristine program. Throws Error if its main isn't found.
std::string source_of(const std::string& solution, const Submission& submission, const std::vector<Variant>& variants);

/// The main that such a file ends with.
std::string main_choosing(const std::vector<std::string>& variants);

}  // namespace odori::grader
