// What the emulated machine consists of: shared by the parts of the emulator.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "backend/emulated/emulator.h"

namespace odori::emulator {

/// Memory between two guards.
struct Allocation {
  std::byte* memory;  // with the guards
  std::size_t bytes;  // without them
  int gpu;            // -1: pinned memory of the host
};

/// Everything there is. Each call into the emulator holds `mutex`, and work of the GPUs is done by whoever waits for
/// it.
struct State {
  State();
  std::recursive_mutex mutex;
  Machine machine;
  Counts counts;
  std::map<std::byte*, Allocation> allocations;  // by the address that was given out
  std::set<cudaStream_t> streams;
  std::mt19937_64 random;
};
State& state();

/// Remembers an error for cudaGetLastError, and returns it.
cudaError_t failed(cudaError_t error);
/// cudaSuccess if the machine has GPUs that work.
cudaError_t check_machine();
int current_gpu();

/// The allocation that holds all of these bytes; null if none does.
const Allocation* find_allocation(const void* memory, std::size_t bytes);
/// Stops the program if somebody has written beside his memory.
void check_guards();

/// As queue(), for a kernel: `backwards` says in which order its threads run.
cudaError_t queue_launch(cudaStream_t stream, std::function<void(bool backwards)> work);
/// cudaSuccess, or the error of a call that waits for `stream`, or (null) that a thread may not make at all, while a
/// graph is recorded.
cudaError_t check_waiting(cudaStream_t stream);
/// Runs all that is queued on the streams of one GPU, or of all (-1).
void run_everything(int gpu);

}  // namespace odori::emulator
