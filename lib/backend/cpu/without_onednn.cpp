// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cstdio>
#include <mutex>

#include "backend/cpu/device.h"
#include "backend/reference/reference_graph.h"

namespace odori {

bool cpu_has_bf16() { return false; }

}  // namespace odori

namespace odori::cpu {

std::unique_ptr<Graph> new_graph(int, Precision, ModelMemory& memory, AlgorithmTable&) {
  static std::once_flag said;
  std::call_once(said, [] {
    fmt::print(stderr,
               "This kit was built without oneDNN: CPU devices compute with plain loops, many times slower. Take the "
               "smallest network (--model tiny), or build with oneDNN: ./odori setup -DODORI_ONEDNN=ON\n");
  });
  return std::make_unique<reference::ReferenceGraph<float>>(memory);
}

}  // namespace odori::cpu
