// SPDX-License-Identifier: Apache-2.0
// What is to be said to the learner, in whatever language.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "errors/error.h"

namespace odori::grader {

/// The key of a section in messages/, and the values that its {placeholders} take. A known misconception is a key of
/// its own ("whole_set_for_each_device"). Values are figures and names, not sentences.
struct Finding {
  std::string key;
  std::map<std::string, std::string> values;
  bool operator==(const Finding&) const = default;
};

/// As a record may hold it: each value of some thousand bytes at most, however much a program said.
Finding bounded(Finding finding);
/// At most that many bytes, cut between two letters, followed by a mark if there were more.
std::string bounded(std::string text, std::size_t most);
/// Bounded, and with files by their names alone: where this machine keeps them is nothing to the student, and records
/// lie among what is given back.
Finding fit_to_keep(Finding finding);

/// This machine's fault, and not the learner's: no marks either way. `what()` is for logs.
class EnvironmentFault : public Error {
 public:
  explicit EnvironmentFault(Finding finding)
      : Error("This machine can't run the check: " + finding.key, 20), finding_(std::move(finding)) {}
  const Finding& finding() const noexcept { return finding_; }

 private:
  Finding finding_;
};

}  // namespace odori::grader
