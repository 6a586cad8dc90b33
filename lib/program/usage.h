// SPDX-License-Identifier: Apache-2.0
// What /proc says about a process: its state, and memory, tasks and CPU time of it and its descendants.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>

namespace odori {

struct Usage {
  std::size_t memory = 0;                       // bytes: resident or swapped, with page tables, without pages of files
  int tasks = 0;                                // processes and threads
  std::chrono::milliseconds processor_time{0};  // CPU time, including ended children
};

/// Not atomic: processes that start or end meanwhile may be missed. Takes less than 0.1 ms per process.
Usage usage_of(pid_t process);

enum class ProcessState { running, stopped, ended };

/// `stopped`: by a signal or a debugger. `running` if /proc cannot be read and the process exists.
ProcessState state_of(pid_t process);

}  // namespace odori
