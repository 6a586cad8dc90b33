// SPDX-License-Identifier: Apache-2.0
// Memory of CPU devices.
#pragma once

#include <cstddef>

#include "backend/buffer.h"

namespace odori::cpu {

/// Throws Error if ulimit -v leaves less address space than `threads` threads need in addition to the model's memory.
/// Call it before threads start: oneDNN and OpenMP crash if they cannot allocate.
void require_address_space(int threads);

/// Allocates n floats, all zero, aligned to 64 bytes; large arrays on huge pages if the system has them. Throws Error
/// if there is not enough memory.
Buffer allocate_floats(std::size_t n);

}  // namespace odori::cpu
