#include "checks/program_runs.h"

#include <utility>

namespace odori::grader {

void ProgramRuns::prepare(const std::vector<RunPlan>& plans) {
  for (const RunPlan& plan : plans) {
    if (runs_.contains(plan)) continue;
    auto begins = std::make_shared<std::promise<void>>();
    const auto before = std::exchange(last_began_, begins->get_future().share());
    runs_[plan] = std::async(std::launch::async, [this, plan, before, begins] {
                    if (before.valid()) before.wait();
                    cores_.acquire();
                    begins->set_value();
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
