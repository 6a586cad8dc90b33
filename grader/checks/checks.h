// SPDX-License-Identifier: Apache-2.0
// What has to be true of a program: pure functions from evidence to findings, each applied to every situation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "checks/verdict.h"
#include "report/figure.h"
#include "runner/evidence.h"
#include "runner/run_plan.h"

namespace odori::grader {

/// Runs of one program (the whole, or a blank's variant), made when first asked for and kept.
class Runs {
 public:
  virtual ~Runs() = default;
  virtual const Evidence& of(const RunPlan& plan) = 0;
  /// These will be asked for in this order: they may be started side by side.
  virtual void prepare(const std::vector<RunPlan>&) {}
  /// No more will be asked for: what is still under way is ended.
  virtual void cancel() {}
  /// What the run trained on, as the grader made it.
  virtual const RunData& data() const = 0;
};

/// What a check looks at: one run, and others of the same program where they explain what is wrong with this one.
struct Situation {
  Runs& runs;
  const RunPlan& plan;
  const Evidence& evidence() const { return runs.of(plan); }
  const RunData& data() const { return runs.data(); }
};

struct Check {
  int blank = 0;          // whose mistake it mostly is, and so whose words; 0: anyone's
  const char* name = "";  // of the GoogleTest: "SharesAreDisjoint"
  std::function<std::optional<Finding>(const Situation&)> find;
};

/// Shown to a learner whose answer is right. All its texts are keys of messages, filled in with `values`.
struct ShownFigure {
  Figure figure;
  std::map<std::string, std::string> values;
};

struct Exam {
  std::vector<RunPlan>
      situations;  // the first one is the plainest: most mistakes show there, and their messages are the clearest
  std::vector<Check> checks;                           // the first finding is reported
  std::function<ShownFigure(Runs& whole)> shows = {};  // of the situations' runs or others, when all blanks are right
  /// The same of the program on simulated ranks. Nothing if it failed there, which is no verdict.
  std::function<std::optional<ShownFigure>(Runs& whole)> simulates = {};
};

/// Of grader/exercises/NN_NAME/checks.cpp.
Exam exam_of(const Task& task);

}  // namespace odori::grader
