// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu_optimizations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "errors/error.h"

namespace odori {

std::vector<GpuOptimization> gpu_optimizations(const std::string& list) {
  std::vector<GpuOptimization> found;
  std::istringstream names(list == "all" ? fmt::format("{}", fmt::join(gpu_optimization_names, ",")) : list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto known = std::ranges::find(gpu_optimization_names, name);
    if (known == gpu_optimization_names.end())
      throw UsageError(fmt::format("There is no GPU optimization \"{}\". There are: {}; or give \"all\".", name,
                                   fmt::join(gpu_optimization_names, ", ")));
    const auto one = static_cast<GpuOptimization>(known - gpu_optimization_names.begin());
    if (std::ranges::find(found, one) == found.end()) found.push_back(one);
  }
  return found;
}

}  // namespace odori
