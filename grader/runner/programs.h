// SPDX-License-Identifier: Apache-2.0
// The programs of one answer: the kit's program with the learner's text in a set of its blanks, one executable for each
// set.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blanks/submission.h"
#include "runner/build.h"
#include "threads/cores.h"

namespace odori::grader {

/// One ordinary source file: `solution`, the kit's program, with the texts of `learners` (by number) in place of the
/// kit's own. No text is rewritten. Added are #line directives, `{}` after each of the learner's texts, so that an `if`
/// without a statement does not take the kit's next one, and a declared call after the last blank that tells the
/// observer that all blanks were executed (at the start of main if all blanks are above it).
///
/// To the compiler, the lines of blank 3 are "blank_3:1", "blank_3:2", ... and all others are "kit:N". So the file
/// depends on the texts alone. Throws Error if no line begins with "int main(int argc, char** argv)", or
/// if it must begin main's body and does not end with "{".
std::string source_of(const std::string& solution, const std::map<int, Blank>& learners);

/// The message for a compile error in a program that takes the blank `place` from the learner. `lines`: the learner's
/// file; `kept`: the part of the answer that the exercise shows, "const int device" (kept_of).
Finding finding_of(const CompileError& error, const Blank& place, const std::vector<std::string>& lines,
                   const std::string& kept);

/// How a blank compiles with the kit's answers in the others.
struct BlankBuild {
  std::set<int> blanks;            // that its program takes from the learner: this one, and those whose names it uses
  std::optional<Finding> failure;  // why it does not compile
  int needs = 0;                   // number of a blank that does not compile and whose names it uses; 0: none
  bool compiles() const { return !failure && needs == 0; }
};

/// Runs jobs in the background in the order in which they are started, as many at once as there are cores.
class Turns {
 public:
  template <typename Job>
  auto start(Job job) {
    auto begins = std::make_shared<std::promise<void>>();
    const auto before = std::exchange(last_began_, begins->get_future().share());
    auto result = std::async(std::launch::async, [this, job = std::move(job), before, begins] {
      if (before.valid()) before.wait();
      cores_.acquire();
      begins->set_value();
      struct Release {
        std::counting_semaphore<>& cores;
        ~Release() { cores.release(); }
      } release{cores_};
      return job();
    });
    return result.share();
  }

 private:
  std::counting_semaphore<> cores_{usable_cores()};
  std::shared_future<void> last_began_;
};

class Programs {
 public:
  /// `filled`: the blanks that hold an answer; `solution`: the text of the kit's program.
  Programs(const Compiler& compiler, std::string solution, const Submission& submission, std::set<int> filled);
  ~Programs();

  /// Starts to build these in the background, as many at once as there are cores, and in this order.
  void prepare(const std::vector<std::set<int>>& sets);
  /// Drops those of prepare() that have not begun. Each can be prepared again.
  void drop_prepared();
  /// The program that takes these blanks from the learner, built when first asked for. Throws EnvironmentFault.
  const Built& of(const std::set<int>& blanks);

  /// The same program built with the compiler's checks of null pointers; empty if that fails.
  std::filesystem::path with_pointer_checks(const std::set<int>& blanks) const;

  /// The blank with the kit's other answers. If it does not compile because of an undeclared name, it is built again
  /// with a blank above it that contains the name.
  const BlankBuild& alone(int blank);
  /// The most blanks that compile in one program: all that compile alone, minus those at which this program's errors
  /// are (a blank that declares a name again, say), for which alone() returns a failure from then on. Empty if fewer
  /// than two remain.
  std::set<int> together();

 private:
  std::string source(const std::set<int>& blanks) const;
  Built build(const std::set<int>& blanks, bool low_priority) const;
  BlankBuild build_alone(int blank);
  Finding finding_of(int blank, const Built& built) const;

  const Compiler& compiler_;
  std::string solution_;
  const Submission& submission_;
  std::set<int> filled_;
  std::map<int, BlankBuild> alone_;
  std::map<int, std::string> unknown_;  // the name for which a blank does not compile

  std::atomic<bool> cancelled_ = false;
  Turns turns_;
  struct Build {
    std::shared_ptr<std::atomic<bool>> begun;
    std::shared_future<Built> built;
  };
  std::map<std::set<int>, Build> builds_;
  std::vector<std::shared_future<Built>> dropped_;  // their jobs end when it is their turn
};

}  // namespace odori::grader
