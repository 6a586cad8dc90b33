// SPDX-License-Identifier: Apache-2.0
// Controls emulated GPUs in tests: the machine's properties, and counts of a program's calls.
//
// README.md describes the emulation. Environment variables configure programs that do not include this header:
// ODORI_EMULATED_GPUS and ODORI_EMULATED_SEED replace Machine's defaults, and CUDA_VISIBLE_DEVICES, indices as in
// "0,3", selects some of the machine's GPUs; nccl_communicator.h describes ODORI_EMULATED_NCCL_FAULT and
// ODORI_EMULATED_NCCL_TIMEOUT.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace odori::emulator {

struct Machine {
  int gpus = 1;                                      // visible to the process
  std::size_t memory_bytes = std::size_t{16} << 30;  // limit per GPU; allocated from host memory
  cudaError_t driver = cudaSuccess;                  // error of cudaGetDeviceCount, for example cudaErrorNoDevice
  std::uint64_t seed = 1;                            // of the random order in which streams run
  int architecture = 9;                              // compute capability's first number
  int code = 90;                                     // compute capability that kernels were compiled for
  std::vector<int> physical{};                       // index of each GPU in the machine; empty: 0, 1, 2, ...
};
/// Replaces the machine. Destroy all memory, streams, events and graphs of the old one before.
void set_machine(const Machine& machine);
/// Returns the bytes allocated on a GPU.
std::size_t allocated_bytes(int gpu);

/// Calls since the start of the program.
struct Counts {
  std::int64_t allocations = 0;         // of GPU memory and of pinned host memory
  std::int64_t waits = 0;               // of the host, for a stream, an event or a device
  std::int64_t launches = 0;            // of kernels, except those inside captured graphs
  std::int64_t graphs = 0;              // launches of captured graphs
  std::int64_t dependent_launches = 0;  // of kernels with programmatic dependent launch, captured or not
  std::int64_t begun_early = 0;         // of these kernels' runs, how many started early
  std::int64_t of_zeros = 0;            // convolutions with an input that is all zeros
};
Counts counts();

}  // namespace odori::emulator
