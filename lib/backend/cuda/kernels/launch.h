// SPDX-License-Identifier: Apache-2.0
// Launches kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace odori::cuda::kernels {

/// Throws Error, which names the kernel, unless the launch succeeded. Defined in backend/cuda/cuda_check.cpp, because
/// nvcc compiles {fmt} slowly.
void check_launch(cudaError_t error, const char* kernel);

/// True if kernels launched by this thread use programmatic dependent launch (GpuOptimization::dependent_launch).
/// CudaDevice::bind_thread() sets it. Defined in cuda_check.cpp.
bool launches_dependent();
void set_launches_dependent(bool on);

/// True if the code for the current GPU contains the wait below, that is, was compiled for compute capability 9.0 or
/// later. A GPU that supports dependent launch may run older PTX, without the wait. Defined in vector.cu.
bool kernels_wait();

/// The first statement of every kernel, in every thread: waits for the previous kernel, then allows the next one to
/// start. Code before it may run early, and must not access memory.
inline __device__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

constexpr unsigned int threads_per_block = 256;

/// Launches `kernel` on a grid of blocks of block.x * block.y threads. Does nothing if there are no blocks.
template <typename... Parameters, typename... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), cudaStream_t stream, dim3 grid, dim3 block,
            Arguments&&... arguments) {
  if (grid.x == 0 || grid.y == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  cudaLaunchAttribute early{};
  if (launches_dependent()) {
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
  }
  check_launch(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
}

}  // namespace odori::cuda::kernels
