#include "comm/communicator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "backend/gpu_plugin.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {
namespace {

std::unique_ptr<Communicator> load_pure_nccl_communicator();

struct Algorithm {
  const char* name;
  std::unique_ptr<Communicator> (*make)();
  bool takes_half_precision = false;
};
constexpr std::array algorithms{
    Algorithm{"naive", make_naive_communicator, true},
    Algorithm{"flat", make_flat_communicator, true},
    Algorithm{"hierarchical", make_hierarchical_communicator},
    Algorithm{"two_dimensional", make_two_dimensional_communicator},
    Algorithm{"single_node", make_single_node_communicator},
    Algorithm{"non_cuda_aware", make_non_cuda_aware_communicator},
    Algorithm{"ring", make_ring_communicator, true},
    Algorithm{"tree", make_tree_communicator, true},
    Algorithm{"pure_nccl", load_pure_nccl_communicator},
    Algorithm{"dummy", make_dummy_communicator},
};

/// Throws UsageError where there is none.
const GpuPlugin& plugin_with_nccl() {
  if (const GpuPlugin* plugin = gpu_plugin()) return *plugin;
  std::vector<std::string> others = communicator_names();
  std::erase(others, "pure_nccl");
  throw UsageError(fmt::format("The communicator pure_nccl needs GPUs and NCCL, but {} Or use one of the others: {}.",
                               why_no_gpu(), fmt::join(others, ", ")));
}

std::unique_ptr<Communicator> load_pure_nccl_communicator() { return plugin_with_nccl().make_pure_nccl_communicator(); }

}  // namespace

std::vector<std::string> communicator_names() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms) names.emplace_back(algorithm.name);
  return names;
}

bool takes_half_precision(const std::string& name) {
  return std::ranges::any_of(
      algorithms, [&](const Algorithm& one) { return name == one.name && one.takes_half_precision; });
}

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  for (const Algorithm& algorithm : algorithms)
    if (name == algorithm.name) {
      // Told of a program that isn't under mpirun, too.
      if (algorithm.make == load_pure_nccl_communicator) plugin_with_nccl();
      agree_on_communicator(name);
      return algorithm.make();
    }
  throw UsageError(
      fmt::format("There is no communicator \"{}\". There are: {}.", name, fmt::join(communicator_names(), ", ")));
}

}  // namespace odori
