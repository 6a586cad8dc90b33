// Memory of CPU devices.
#pragma once

#include <cstddef>

#include "backend/buffer.h"

namespace odori::cpu {

/// n floats, all zero, at a multiple of 64 bytes; large ones on huge pages where the system has them. Throws Error if
/// there is no such memory left.
Buffer allocate_floats(std::size_t n);

}  // namespace odori::cpu
