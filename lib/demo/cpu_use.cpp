// SPDX-License-Identifier: Apache-2.0
#include "demo/cpu_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace odori::demo {

CpuUse cpu_use() {
  CpuUse use;
  use.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();

  // proc(5): "cpu  user nice system idle iowait irq softirq steal ..."
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (stat >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)
    use.all = (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));

  struct rusage children {};
  getrusage(RUSAGE_CHILDREN, &children);
  for (const timeval& time : {children.ru_utime, children.ru_stime})
    use.own += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  return use;
}

double cores_of_others(const CpuUse& before, const CpuUse& after) {
  const double wall = after.wall - before.wall;
  if (wall <= 0) return 0;
  return std::max(0.0, (after.all - before.all) - (after.own - before.own)) / wall;
}

int cores_of_machine() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace odori::demo
