// SPDX-License-Identifier: Apache-2.0
// Defines the state of the emulated machine, and the errors that all parts of the emulator report.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "backend/emulated/emulator.h"

namespace odori::emulator {

/// A block of memory between two guards.
struct Allocation {
  std::byte* begin;   // of the first guard
  std::size_t bytes;  // without the guards
  int gpu;            // -1: pinned host memory
};

/// The state of the emulated machine. Calls into the emulator lock `mutex`, and run queued work on the calling thread.
struct State {
  State();
  std::recursive_mutex mutex;
  Machine machine;
  Counts counts;
  std::map<std::byte*, Allocation> allocations;  // by the address that the program received
  std::set<cudaStream_t> streams;
  std::mt19937_64 random;
};
State& state();

/// Stores an error for cudaGetLastError (cudaSuccess leaves it as it is) and returns it.
cudaError_t set_last_error(cudaError_t error);
/// Returns cudaSuccess if the machine has GPUs and a working driver.
cudaError_t check_machine();
int current_gpu();
/// Returns the index in the machine of a GPU that the process sees.
int physical_gpu(int gpu);

/// Prints "Emulated GPU: ..." to stderr and aborts the program.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Returns the allocation that holds all of these bytes, or null. Needs state().mutex locked, as check_guards() does.
const Allocation* find_allocation(const void* memory, std::size_t bytes);
/// Aborts the program if a guard of any allocation was overwritten. Called when the host waits for a stream or a GPU;
/// cudaFree checks the guards of its own block.
void check_guards();

}  // namespace odori::emulator
