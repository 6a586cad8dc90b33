// SPDX-License-Identifier: Apache-2.0
// What differs between emulated and real GPUs: emulated_gpus.cpp or real_gpus.cpp implements it.
#pragma once

#include <string>
#include <vector>

#include "backend/emulated/operation_log.h"
#include "comm/communicator.h"

namespace odori::gpus {

using emulator::LogEntry, emulator::MemoryRange;

bool are_emulated();
/// Sets up the emulated machine, as the grader's test case has it. To be called before the first call of CUDA.
void prepare(const Communicator& comm);
/// Returns the index in the machine of a GPU that this process sees; -1: not known.
int physical(int gpu);

// ---- The operation log. Real GPUs have none: these do nothing.

void start_log(int rank);
std::vector<LogEntry> stop_log();
/// Describes the kernel that this thread launches next.
void describe(std::string name, std::vector<MemoryRange> reads, std::vector<MemoryRange> writes, double seconds);
/// The host reads memory now.
void host_reads(std::string name, MemoryRange memory);

}  // namespace odori::gpus
