// SPDX-License-Identifier: Apache-2.0
#include "threads/cores.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "files/file.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

/// `limit`: the microseconds of processor time in each period, and the period's; without a limit, "max" or -1.
int least(int cores, const std::string& limit) {
  double quota = 0, period = 0;
  if (!(std::istringstream(limit) >> quota >> period) || quota <= 0 || period <= 0) return cores;
  return static_cast<int>(std::min<double>(cores, std::ceil(quota / period)));
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : get_nprocs();
  return cores_within(cores, "/sys/fs/cgroup", "/proc/self/cgroup");
}

int cores_within(int cores, const fs::path& all, const fs::path& own) {
  std::istringstream lines(read_file(own));
  for (std::string number, controllers, path;
       std::getline(std::getline(std::getline(lines, number, ':'), controllers, ':'), path);) {
    const bool version_2 = controllers.empty();
    if (!version_2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    // A container's may be the root of those that it sees, whatever the path says: each folder of it is looked into.
    for (fs::path group = fs::path(path).relative_path();; group = group.parent_path()) {
      const fs::path folder = (version_2 ? all : all / "cpu") / group;
      cores =
          least(cores, version_2 ? read_file(folder / "cpu.max")
                                 : read_file(folder / "cpu.cfs_quota_us") + read_file(folder / "cpu.cfs_period_us"));
      if (group.empty()) break;
    }
  }
  return cores;
}

}  // namespace odori
