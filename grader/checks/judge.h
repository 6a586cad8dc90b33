// SPDX-License-Identifier: Apache-2.0
// The judge: runs the programs of an answer and decides the outcome of each blank.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "checks/try_program.h"
#include "runner/programs.h"

namespace odori::grader {

/// The programs of one answer, and their runs, which live as long as this object.
class AnswerPrograms {
 public:
  virtual ~AnswerPrograms() = default;
  /// Starts to build the programs that take these blanks from the learner, in this order.
  virtual void prepare(const std::vector<std::set<int>>&) {}
  /// Drops those of prepare() that have not begun.
  virtual void drop_prepared() {}
  /// How a blank compiles among the kit's answers.
  virtual BlankBuild alone(int blank) = 0;
  /// The most blanks that compile in one program; empty if fewer than two.
  virtual std::set<int> together() = 0;
  /// New runs of the program that takes these blanks from the learner; null if it does not compile.
  virtual Runs* runs_of(const std::set<int>& blanks) = 0;
  /// After a crash: runs the program again with the compiler's checks of null pointers. What they find, or nothing.
  virtual std::optional<Finding> find_null_pointer(const std::set<int>&, const RunPlan&) { return {}; }
};

/// Judges the blanks `filled`, in steps:
/// 1. The program with all of them. If it passes every check of every test case, they are right, except that blanks of
///    `judged_alone` which compile alone must pass with the kit's other answers too.
/// 2. If it fails: each blank alone, in that test case. A blank that fails is wrong, unless it passes with others of
///    the learner's blanks (at most eight sets are tried). The program with the blanks that remain goes back to step 1.
/// 3. If none fails alone, the blanks disagree. They are added one after another, and the first one with which the
///    program fails is wrong, unless an earlier one fails alone in a later test case.
/// So no blank is marked wrong because of another one that is wrong. A failure that does not occur again is retried,
/// and then reported as a fault of the environment.
///
/// Calls `tell` for each blank as soon as it is decided. Returns the runs of the whole, or null if a blank is not
/// right. Runs GoogleTests, so do not call it within one.
/// Throws Error on Ctrl-C.
Runs* judge(const std::set<int>& filled, const std::set<int>& judged_alone, AnswerPrograms& programs, const Exam& exam,
            const std::function<void(int blank, const Outcome&)>& tell);

}  // namespace odori::grader
