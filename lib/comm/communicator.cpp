#include "comm/communicator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "backend/gpu_plugin.h"
#include "comm/algorithm.h"
#include "core/error.h"

namespace odori {
namespace {

/// The last one that listed itself, in no order that could be told.
constinit const Algorithm* last_listed = nullptr;

/// Throws UsageError where there is none.
const GpuPlugin& plugin_with_nccl() {
  if (const GpuPlugin* plugin = gpu_plugin()) return *plugin;
  std::vector<std::string> others = communicator_names();
  std::erase(others, "pure_nccl");
  throw UsageError(fmt::format("The communicator pure_nccl needs GPUs and NCCL, but {} Or use one of the others: {}.",
                               why_no_gpu(), fmt::join(others, ", ")));
}

std::unique_ptr<Communicator> load_pure_nccl_communicator() { return plugin_with_nccl().make_pure_nccl_communicator(); }

/// Its own file is a part of the plug-in, which need not be there.
const Algorithm pure_nccl_algorithm{
    "pure_nccl", load_pure_nccl_communicator,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::quicker(cluster, gradients.bytes);
    }};

}  // namespace

Algorithm::Algorithm(const char* its_name, Make its_make, Seconds its_seconds, Takes takes) noexcept
    : name(its_name),
      make(its_make),
      seconds(its_seconds),
      takes_half_precision(takes == Takes::half_precision_too),
      next_(std::exchange(last_listed, this)) {}

const Algorithm* Algorithm::find(const std::string& name) {
  const Algorithm* one = last_listed;
  while (one && name != one->name) one = one->next_;
  return one;
}

const Algorithm& Algorithm::named(const std::string& name) {
  if (const Algorithm* one = find(name)) return *one;
  throw UsageError(
      fmt::format("There is no communicator \"{}\". There are: {}.", name, fmt::join(communicator_names(), ", ")));
}

std::vector<std::string> communicator_names() {
  std::vector<std::string> names;
  for (const Algorithm* one = last_listed; one; one = one->next_) names.emplace_back(one->name);
  std::ranges::sort(names);
  return names;
}

bool takes_half_precision(const std::string& name) {
  const Algorithm* one = Algorithm::find(name);
  return one && one->takes_half_precision;
}

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  const Algorithm& algorithm = Algorithm::named(name);
  // Told of a program that isn't under mpirun, too.
  if (algorithm.make == load_pure_nccl_communicator) plugin_with_nccl();
  agree_on_communicator(name);
  return algorithm.make();
}

}  // namespace odori
