#include "checks/checks.h"

namespace odori::grader {

std::vector<Check> checks_of(const Task& task) {
  return task.under_mpi ? checks_of_multi_node() : checks_of_multi_gpu();
}

}  // namespace odori::grader
