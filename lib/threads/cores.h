// SPDX-License-Identifier: Apache-2.0
// How many cores this process has.
#pragma once

#include <filesystem>

namespace odori {

/// Those that it may run on, but no more than the processor time that its control groups leave it (a container's:
/// docker run --cpus 2), rounded up. cores.sh says the same before anything is built.
int usable_cores();

/// `cores`, or what the control groups in the folder `all` leave a process, `own` being its list of them (cgroups(7)).
int cores_within(int cores, const std::filesystem::path& all, const std::filesystem::path& own);

}  // namespace odori
