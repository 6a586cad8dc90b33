// SPDX-License-Identifier: Apache-2.0
// The judge: from the programs of an answer to an outcome of each blank.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "checks/try_program.h"
#include "runner/programs.h"

namespace odori::grader {

/// The programs of one answer, and what running them shows. The runs live as long as this.
class AnswerPrograms {
 public:
  virtual ~AnswerPrograms() = default;
  /// Starts to build the programs that take these blanks from the learner, in this order.
  virtual void prepare(const std::vector<std::set<int>>&) {}
  /// How a blank compiles among the kit's answers.
  virtual BlankBuild alone(int blank) = 0;
  /// All blanks that compile alone and together; empty if there are fewer than two, or if they do not.
  virtual std::set<int> together() = 0;
  /// New runs of the program that takes these blanks from the learner; null if it does not compile.
  virtual Runs* runs_of(const std::set<int>& blanks) = 0;
  /// Why a program crashed by a pointer in this run, in one more run with the compiler's own checks; nothing if these
  /// see nothing.
  virtual std::optional<Finding> find_null_pointer(const std::set<int>&, const RunPlan&) { return {}; }
};

/// Judges the blanks `filled`. The whole takes all of them from the learner. If it passes every check in every test
/// case, its blanks are right, but those of `judged_alone` have to be right with the kit's other answers too. Otherwise
/// each blank is tried alone in the test case in which the whole failed. Those that fail are wrong, unless they are
/// right with others of the learner's, and the rest is judged together without them. If none fails alone, blanks
/// disagree: they are put together one by one, and the first with which the program fails is wrong, unless one before
/// it fails alone in a later test case. So no blank is judged together with one that is not known to be right.
///
/// Calls `tell` for each blank as soon as it is decided. Returns the runs of the whole, or null if a blank is not
/// right. Not to be called within a GoogleTest. Throws Error on Ctrl-C.
Runs* judge(const std::set<int>& filled, const std::set<int>& judged_alone, AnswerPrograms& programs, const Exam& exam,
            const std::function<void(int blank, const Outcome&)>& tell);

}  // namespace odori::grader
