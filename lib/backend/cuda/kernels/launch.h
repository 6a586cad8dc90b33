// SPDX-License-Identifier: Apache-2.0
// How every kernel is launched.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace odori::cuda::kernels {

/// Throws an Error that names the kernel unless the launch went well. Defined with the other checks, in
/// backend/cuda/cuda_check.cpp: {fmt} and nvcc make slow company.
void check_launch(cudaError_t error, const char* kernel);

/// May the kernels that this thread launches begin before the kernel before them in the stream has ended
/// (GpuOptimization::dependent_launch)? CudaDevice::bind_thread() sets it. Defined in cuda_check.cpp.
bool launches_dependent();
void set_launches_dependent(bool on);

/// Do kernels wait in the code that the chosen GPU runs? That is code made for compute capability 9.0 or later: a GPU
/// that can begin kernels early may run older PTX, from which the wait below is left out. Defined in vector.cu.
bool kernels_wait();

/// Each kernel's first statement, in every thread: until here it may run early, so nothing before it may read or write
/// memory. Then the kernel before has ended, and the next one may begin as far as this one leaves room.
inline __device__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

constexpr unsigned int threads_per_block = 256;

/// `kernel` on a grid of blocks of block.x * block.y threads. Nothing is launched if there are no blocks.
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
