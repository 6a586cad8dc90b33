// How the learner's program is run once.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace odori::grader {

struct RunPlan {
  int devices = 1;         // task 1: --n_gpus
  std::vector<int> nodes;  // task 2: the node of each rank, as ODORI_NODES has it; empty for task 1
  auto operator<=>(const RunPlan&) const = default;
  int ranks() const { return nodes.empty() ? 1 : static_cast<int>(nodes.size()); }
};

}  // namespace odori::grader
