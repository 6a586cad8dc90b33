// SPDX-License-Identifier: Apache-2.0
// Turns CUDA's errors into Errors, and owns CUDA's handles and memory.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace odori::cuda {

/// Throws Error unless the call succeeded. `doing` completes a sentence after "while": "copying images to the GPU".
void check(cudaError_t error, const char* doing);
void check(cublasStatus_t status, const char* doing);

/// Returns "GPU 0", the calling thread's current device.
std::string current_gpu();

/// A deleter that ignores errors.
template <auto release>
struct Release {
  template <typename T>
  void operator()(T* what) const noexcept {
    static_cast<void>(release(what));
  }
};
template <typename Pointer, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Release<release>>;

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Blas = Owned<cublasHandle_t, cublasDestroy>;

/// cudaMalloc on the current GPU; counted for peak_memory_of() until FreeDevice frees it.
cudaError_t allocate_device(void** memory, std::size_t bytes);
/// Peak bytes allocated on a GPU.
std::size_t peak_memory_of(int ordinal);

struct FreeDevice {
  void operator()(std::byte* memory) const noexcept;
};
struct FreePinned {
  void operator()(std::byte* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }
};
/// GPU memory. cudaFree waits for work queued on the GPU, so no work still uses the memory.
using DeviceMemory = std::unique_ptr<std::byte[], FreeDevice>;
/// Pinned (page-locked) host memory, for asynchronous copies.
using PinnedMemory = std::unique_ptr<std::byte[], FreePinned>;

Stream new_stream();
/// Creates an event for ordering and waiting; `timed`: also for cudaEventElapsedTime.
Event new_event(bool timed = false);
/// Allocates zeroed GPU memory. Throws Error with the bytes requested, the bytes free, and flags that reduce memory.
/// `what`: its use, "the network's activations".
DeviceMemory allocate_zeros(std::size_t bytes, const char* what, cudaStream_t stream);
PinnedMemory allocate_pinned(std::size_t bytes);

}  // namespace odori::cuda
