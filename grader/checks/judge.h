// From checks to verdicts, with GoogleTest.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "checks/try_program.h"

namespace odori::grader {

/// What is judged. The runs live as long as this.
struct Judged {
  Runs* whole = nullptr;                    // of all filled blanks together; none if there is no such program
  std::map<int, Runs*> variants;            // of each blank alone
  std::map<int, std::set<int>> holds = {};  // whose texts a variant holds, if not its blank's alone
  /// Of programs that hold these sets of blanks; nothing if they can't be built.
  std::function<std::vector<Runs*>(const std::vector<std::set<int>>&)> build = {};
};

/// Judges each blank that has a variant, as GoogleTests. What passes every check in every situation is right, with all
/// blanks that it holds. Where the whole fails, each blank is tried alone in that situation; those that fail are wrong,
/// unless they are right beside others of the learner's, and the others are judged together without them. If none fails
/// alone, blanks disagree: then they are put together one by one, and the first with which it fails is wrong, unless
/// one before it fails alone in a later situation: then that one is. So no blank is judged beside one that isn't known
/// to be right. `tell` hears of each blank as soon as it is decided. Not to be called within a GoogleTest. Throws Error
/// on Ctrl-C.
void judge(const Judged& judged, const Exam& exam, const std::function<void(int blank, const Outcome&)>& tell);

}  // namespace odori::grader
