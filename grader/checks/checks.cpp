#include "checks/checks.h"

namespace odori::grader {

std::vector<Check> checks_of(const Task& task) {
  std::vector<Check> checks;
  const RunPlan plan = task.under_mpi ? RunPlan{.nodes = {0, 1}} : RunPlan{.devices = 2};
  for (int blank = 1; blank <= task.n_program_blanks; ++blank)
    checks.push_back({blank,
                      "ProgramEnds",
                      [plan](Runs& runs) -> std::optional<Finding> {
                        runs.of(plan);
                        return {};
                      },
                      {plan}});
  return checks;
}

}  // namespace odori::grader
