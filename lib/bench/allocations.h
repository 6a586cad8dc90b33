// SPDX-License-Identifier: Apache-2.0
// Counts all calls of malloc in a process, including those of libraries. Linking allocations.cpp into a program
// replaces malloc and related functions.
#pragma once

#include <cstddef>

namespace odori::bench {

/// `bytes`, `largest` and `kept` in bytes; `kept`: allocated and not freed.
struct Allocations {
  std::size_t calls = 0, bytes = 0, largest = 0;
  std::ptrdiff_t kept = 0;
};

/// Resets the counters.
void count_allocations();
/// Allocations of all threads since count_allocations().
Allocations allocations();

}  // namespace odori::bench
