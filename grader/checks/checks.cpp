#include "checks/checks.h"

namespace odori::grader {

std::vector<Check> checks_of(const Task& task) {
  return task.under_mpi ? checks_of_multi_node() : checks_of_multi_gpu();
}

std::vector<Check> endings_alone(const Task& task) {
  const RunPlan plan = task.under_mpi ? RunPlan{.nodes = {0, 0, 1, 1}} : RunPlan{.devices = 2};
  std::vector<Check> checks;
  for (int blank = 1; blank <= task.n_program_blanks; ++blank)
    checks.push_back({blank, "EndsWell", [plan](Runs& runs) {
                        runs.of(plan);
                        return std::optional<Finding>();
                      }});
  return checks;
}

}  // namespace odori::grader
