// An emulated GPU, for tests: CUDA's runtime, kernels, and the little of cuBLAS and cuDNN that the kit uses, on the
// host. The CUDA backend's own sources are compiled against it, so that all of it that can be wrong without a GPU can
// be seen to be wrong without one.
//
// It is unkind where CUDA only may be. What is queued on a stream runs late, when somebody waits for it, or early, at
// random: a missing event, or a read without waiting, gives wrong numbers. Memory is fresh as NaNs, between guards that
// are checked. Threads of a block run one after another up to a barrier, in either order. A captured graph repeats the
// arguments that it was recorded with. What is surely a mistake ends the program with a sentence on stderr.
//
// What it can't see: races between blocks or within a warp, and anything about speed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace odori::emulator {

// ---- For tests

struct Machine {
  int gpus = 1;
  std::size_t memory_bytes = std::size_t{16} << 30;  // of each GPU, as far as it says; the host has to have it too
  cudaError_t driver = cudaSuccess;                  // what cudaGetDeviceCount answers instead, say cudaErrorNoDevice
  std::uint64_t seed = 1;                            // of when what is queued runs
};
/// A new machine. There must be no memory, stream, event or graph of the old one.
void set_machine(const Machine& machine);
/// How much is allocated on a GPU.
std::size_t allocated_bytes(int gpu);

/// What the host did since the program began.
struct Counts {
  std::int64_t allocations = 0;  // of GPU and pinned memory
  std::int64_t waits = 0;        // for a stream, an event or a device
  std::int64_t launches = 0;     // of kernels, those inside graphs not counted
  std::int64_t graphs = 0;       // launched
  std::int64_t of_zeros = 0;     // convolutions of which a factor is nothing but zeros
};
Counts counts();

// ---- For other emulated libraries

/// Queues work on a stream, as a kernel is. Capture records it.
cudaError_t queue(cudaStream_t stream, std::function<void()> work);
/// Ends the program: "Emulated GPU: ...".
[[noreturn]] void complain(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace odori::emulator
