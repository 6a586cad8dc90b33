// SPDX-License-Identifier: Apache-2.0
// The number of cores of this process.
#pragma once

#include <filesystem>

namespace odori {

/// Cores in this process's affinity mask, limited by its cgroups' CPU quota (as of docker run --cpus 2), rounded up.
/// cores.sh computes the same before anything is built.
int usable_cores();

/// The smaller of `cores` and the CPU quota. `all`: the folder of all cgroups; `own`: the process's list of its cgroups
/// (cgroups(7)).
int cores_within(int cores, const std::filesystem::path& all, const std::filesystem::path& own);

}  // namespace odori
