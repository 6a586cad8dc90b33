#include "checks/program_runs.h"

namespace odori::grader {

void ProgramRuns::prepare(const std::vector<RunPlan>& plans) {
  for (const RunPlan& plan : plans) {
    if (runs_.contains(plan)) continue;
    runs_[plan] = std::async(std::launch::async, [this, plan] {
                    cores_.acquire();
                    struct Release {
                      Cores& cores;
                      ~Release() { cores.release(); }
                    } release{cores_};
                    return cancelled_ ? Evidence{} : runner_.run(program_, plan, cancelled_);
                  }).share();
  }
}

const Evidence& ProgramRuns::of(const RunPlan& plan) {
  prepare({plan});
  return runs_.at(plan).get();
}

}  // namespace odori::grader
