// What has to be true of each blank: pure functions from evidence to findings.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "checks/verdict.h"
#include "exercise/task.h"
#include "worker/evidence.h"
#include "worker/run_plan.h"

namespace odori::grader {

/// Runs of one program (the whole, or a blank's variant), made when first asked for and kept.
class Runs {
 public:
  virtual ~Runs() = default;
  virtual const Evidence& of(const RunPlan& plan) = 0;
  /// These will be asked for: they may be started side by side.
  virtual void prepare(const std::vector<RunPlan>&) {}
  /// No more will be asked for: what is still under way is ended.
  virtual void cancel() {}
  /// What the run trained on, as the grader made it.
  virtual const RunData& data() const = 0;
};

struct Check {
  int blank = 0;
  const char* name = "";  // of the GoogleTest: "SharesAreDisjoint"
  std::function<std::optional<Finding>(Runs&)> find;
  std::vector<RunPlan> plans = {};  // the runs that it looks at: made side by side before it is asked
};

/// In the order in which they are tried; the first finding of a blank is the one that is told.
std::vector<Check> checks_of(const Task& task);
/// Of a grader that believes a program that ends well: for tests alone, to see what the others are good for.
std::vector<Check> endings_alone(const Task& task);

// One file a task.
std::vector<Check> checks_of_multi_gpu();
std::vector<Check> checks_of_multi_node();

}  // namespace odori::grader
