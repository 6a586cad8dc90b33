// SPDX-License-Identifier: Apache-2.0
// CUDA's errors as sentences, and owners of what CUDA hands out.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace odori::cuda {

/// Throw Error unless the call went well. `doing` goes on after "while": "copying images to the GPU".
void check(cudaError_t error, const char* doing);
void check(cublasStatus_t status, const char* doing);

/// "GPU 0" of the calling thread's current device.
std::string current_gpu();

/// Frees or destroys, once; errors then have nobody left to tell.
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

/// cudaMalloc on the current GPU, counted until FreeDevice frees it.
cudaError_t allocate_device(void** memory, std::size_t bytes);
/// The most bytes that were allocated on a GPU at a time.
std::size_t peak_memory_of(int ordinal);

struct FreeDevice {
  void operator()(std::byte* memory) const noexcept;
};
struct FreePinned {
  void operator()(std::byte* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }
};
/// Memory of a GPU. cudaFree waits for what is queued on the GPU: nothing still uses what it frees.
using DeviceMemory = std::unique_ptr<std::byte[], FreeDevice>;
/// Host memory that a GPU can copy from and to while the host goes on.
using PinnedMemory = std::unique_ptr<std::byte[], FreePinned>;

Stream new_stream();
/// For order and waiting alone; `timed`: for cudaEventElapsedTime too.
Event new_event(bool timed = false);
/// Zeros. Throws Error with the bytes requested, the bytes free, and which flags need less; `what` it is for: "the
/// network's activations".
DeviceMemory allocate_zeros(std::size_t bytes, const char* what, cudaStream_t stream);
PinnedMemory allocate_pinned(std::size_t bytes);

}  // namespace odori::cuda
