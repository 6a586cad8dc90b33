// SPDX-License-Identifier: Apache-2.0
// Provides look-up and checks of allocated memory. Both functions need state().mutex locked.
#pragma once

#include "backend/emulated/machine.h"

namespace odori::emulator {

/// Returns the allocation that holds all of these bytes, or null.
const Allocation* find_allocation(const void* memory, std::size_t bytes);
/// Aborts the program if a guard of any allocation was overwritten. Called when the host waits for a stream or a GPU;
/// cudaFree checks the guards of its own block.
void check_guards();

}  // namespace odori::emulator
