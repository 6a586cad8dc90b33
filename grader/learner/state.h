// SPDX-License-Identifier: Apache-2.0
// What the kit remembers of a learner: one plain text file, .odori_state in the kit's folder.
//
//   verdict multi_gpu 3 WRONG 0 10 5f0c2a9e11d3b7f4    the last verdict, its points, of how many, on which text
//   hint multi_gpu 3 2                                 hints given so far (written by ./odori hint)
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/verdict.h"

namespace odori::grader {

struct Remembered {
  std::string verdict;  // as name_of() has it
  double points = 0, of = 0;
  std::string text;  // a fingerprint of what was judged: another one now means that it was changed since
};

/// 16 hexadecimal digits that differ between texts (FNV-1a).
std::string fingerprint(const std::vector<std::string>& lines);

class State {
 public:
  /// Reads the file; none is an empty state. A file that can't be understood is kept next to it, as FILE.damaged, and
  /// the state begins empty, and damaged() is true.
  explicit State(std::filesystem::path file);

  bool damaged() const { return damaged_; }
  /// Blank 0 is the speedup.
  std::optional<Remembered> verdict(const std::string& task, int blank) const;
  int hints(const std::string& task, int blank) const;

  /// `lines`: the blank's text that was judged. A fault of this machine, and a speedup that
  /// wasn't asked for, change nothing; NOT_CHECKED erases the remembered verdict.
  void remember(const std::string& task, const BlankVerdict& verdict, const std::vector<std::string>& lines);
  /// The verdict on one blank, or on all of a task. Hints that were given are still counted.
  void forget(const std::string& task, std::optional<int> blank = {});
  /// Replaces the file at once: it is never seen half-written. Throws Error if it can't be written.
  void save() const;

 private:
  using Place = std::pair<std::string, int>;
  bool read_line(const std::string& line);

  std::filesystem::path file_;
  std::map<Place, Remembered> verdicts_;
  std::map<Place, int> hints_;
  bool damaged_ = false;
};

/// KIT/.odori_state, or the file that $ODORI_STATE names.
std::filesystem::path state_file(const std::filesystem::path& kit);

}  // namespace odori::grader
