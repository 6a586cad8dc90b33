// SPDX-License-Identifier: Apache-2.0
// Measures how many cores other programs use during the demo.
#pragma once

namespace odori::demo {

/// Readings of clocks, in seconds.
struct CpuUse {
  double wall = 0;
  double all = 0;  // CPU time of all programs on this machine since it booted, and steal time
  double own = 0;  // CPU time of ended child processes
};

/// Current readings. `all` is 0 if /proc/stat cannot be read.
CpuUse cpu_use();

/// Mean number of cores that other programs used between two readings.
double cores_of_others(const CpuUse& before, const CpuUse& after);

/// True if other programs left fewer than `wanted` of `n_cores` cores idle, with a tolerance of 0.2 cores.
inline bool are_too_many(double cores_of_others, int n_cores, int wanted) {
  return cores_of_others > n_cores - wanted + 0.2;
}

/// All online cores of the machine, also those that this process may not use.
int cores_of_machine();

}  // namespace odori::demo
