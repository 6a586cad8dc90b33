// SPDX-License-Identifier: Apache-2.0
// What a running process and all its descendants take up, seen from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>

namespace odori {

struct Usage {
  std::size_t memory = 0;  // bytes: resident or swapped out, files' pages left out, and the tables for them
  int tasks = 0;           // processes and threads
  std::chrono::milliseconds processor_time{0};  // of those that live, and of those of their children that have ended
};

/// A snapshot while they come and go: it may miss some. Takes less than 0.1 ms per process.
Usage usage_of(pid_t process);

}  // namespace odori
