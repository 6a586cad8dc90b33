// SPDX-License-Identifier: Apache-2.0
// How much of this machine other programs use while the demo measures.
#pragma once

namespace odori::demo {

/// A reading of two clocks, in seconds.
struct CpuUse {
  double wall = 0;
  double all = 0;  // CPU time of all programs on this machine since it booted, and what a hypervisor took from it
  double own = 0;  // CPU time of the programs that this one has started and waited for
};

/// The readings now. `all` is 0 where /proc/stat can't be read.
CpuUse cpu_use();

/// Mean number of cores that other programs used between two readings.
double cores_of_others(const CpuUse& before, const CpuUse& after);

/// True if others left this machine, with `n_cores`, less than `wanted` idle cores. A fifth of a core is tolerated.
inline bool are_too_many(double cores_of_others, int n_cores, int wanted) {
  return cores_of_others > n_cores - wanted + 0.2;
}

/// All cores of the machine, whatever this process may use of them.
int cores_of_machine();

}  // namespace odori::demo
