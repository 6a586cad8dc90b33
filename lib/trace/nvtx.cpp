// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>

#include "trace/profiler.h"

namespace odori::trace {

bool profiler_watches() noexcept {
  static const bool watches = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
  return watches;
}

void begin_range(const char* name) noexcept { nvtxRangePushA(name); }
void end_range() noexcept { nvtxRangePop(); }

}  // namespace odori::trace
