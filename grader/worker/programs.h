// A learner's blanks, built: each alone among the kit's answers, and all together.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exercise/submission.h"
#include "worker/build.h"
#include "worker/run.h"

namespace odori::grader {

struct BuiltPrograms {
  /// All blanks that compile hold the learner's text; none if they can't stand together, or if there is only one.
  std::optional<BuiltProgram> whole;
  std::map<int, BuiltProgram> of_blank;     // this blank holds the learner's text, and those whose names it uses
  std::map<int, Finding> failures;          // blanks that don't compile
  std::map<int, int> needs_failed;          // blanks that use a name of another one, which doesn't compile
  std::map<int, std::set<int>> holds = {};  // whose texts a blank's program holds
};

/// What to say of an error in the variant of the blank at `place`. `lines`: the learner's file; `kept`: what the
/// exercise has of the answer, "const int device" (kept_of).
Finding finding_of(const CompileError& error, const Blank& place, const std::vector<std::string>& lines,
                   const std::string& kept);

/// `filled`: the blanks to build; `solution`: the text of the kit's program. One build, if all is well. If some blanks
/// don't compile, or use a name that another one declares, a second one without the former and with the latter's texts
/// together; more only where an error comes to light when others are gone. A blank that can't stand beside others in
/// one file (is_self_contained) is built for itself. Throws EnvironmentFault.
BuiltPrograms build_programs(const Compiler& compiler, const std::string& solution, const Submission& submission,
                             const std::set<int>& filled);

/// Programs that hold these sets of blanks, in one build; none if one of them doesn't compile. Throws
/// EnvironmentFault.
std::vector<BuiltProgram> build_sets(const Compiler& compiler, const std::string& solution,
                                     const Submission& submission, const std::vector<std::set<int>>& sets);

}  // namespace odori::grader
