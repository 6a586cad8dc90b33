// SPDX-License-Identifier: Apache-2.0
// Memory of CPU devices.
#pragma once

#include <cstddef>

#include "backend/buffer.h"

namespace odori::cpu {

/// Throws Error where a limit (ulimit -v) leaves less than that many threads need in addition to their model's memory.
/// oneDNN and the threads' libraries don't survive it if they get none, so this is asked before either begins.
void require_address_space(int threads);

/// n floats, all zero, at a multiple of 64 bytes; large ones on huge pages where the system has them. Throws Error if
/// there is no such memory left.
Buffer allocate_floats(std::size_t n);

}  // namespace odori::cpu
