// SPDX-License-Identifier: Apache-2.0
// A learner's file: what was written into each blank, and what was changed elsewhere and is left out.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "blanks/blanks.h"
#include "blanks/finding.h"

namespace odori::grader {

/// A line outside the blanks that isn't the kit's.
struct Change {
  int line = 0;          // the learner's own; where a line is missing, that of the next one
  bool removed = false;  // the kit's line is missing
  std::string text;      // the learner's line, or the kit's that is missing
};

struct Submission {
  std::filesystem::path path;
  std::vector<std::string> lines;     // as the learner has them, without line ends, in UTF-8
  std::map<int, Blank> blanks;        // by number: those whose text could be taken
  std::map<int, Finding> unreadable;  // why it couldn't, for all others
  std::vector<Change> changes;        // left out: only the blanks' texts are taken
};

/// `exercise`: the file as the kit cuts it. Line ends, tabs, a byte order mark, the encoding (as_utf8), comments and
/// empty lines outside the blanks make no difference. Whatever is wrong with the file (it is missing, empty, binary,
/// has a mark twice) becomes a finding for each blank that it costs. Throws EnvironmentFault if the file is there and
/// can't be read.
Submission read_submission(const std::filesystem::path& path, const std::string& exercise);

/// Does a finding of read_submission's say that answers can't be found, as the marks around them are broken or gone, or
/// the file is no text? One such slip costs several blanks, mostly.
bool hides_answers(const Finding& finding);

/// Copies a file to KIT/out/kept before it is replaced, with the date in its name:
/// train_cifar_multi_gpu.20261120_223015.cpp. Returns the copy's path. Throws Error if it cannot be copied.
std::filesystem::path keep_copy(const std::filesystem::path& path, const std::filesystem::path& kit);

}  // namespace odori::grader
