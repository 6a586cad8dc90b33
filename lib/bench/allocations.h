// SPDX-License-Identifier: Apache-2.0
// Counts what a whole process, its libraries included, asks malloc for. A program that is linked with allocations.cpp
// has malloc and its relatives replaced.
#pragma once

#include <cstddef>

namespace odori::bench {

/// `kept`: bytes taken and not given back.
struct Allocations {
  std::size_t calls = 0, bytes = 0, largest = 0;
  std::ptrdiff_t kept = 0;
};

/// Counts from zero.
void count_allocations();
/// Allocations since then, by all threads.
Allocations allocations();

}  // namespace odori::bench
