// SPDX-License-Identifier: Apache-2.0
// What keeps a class from being marked, told in the instructor's language.
#pragma once

#include "blanks/finding.h"
#include "errors/error.h"

namespace odori::grader {

/// A folder that can't be used, no submission in it, no space, somebody else at work. `what()` is for logs.
class Refusal : public Error {
 public:
  explicit Refusal(Finding finding, int code = exit_code::usage)
      : Error("The class can't be marked: " + finding.key, code), finding_(std::move(finding)) {}
  const Finding& finding() const noexcept { return finding_; }

 private:
  Finding finding_;
};

}  // namespace odori::grader
