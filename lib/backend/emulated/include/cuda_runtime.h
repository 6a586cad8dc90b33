// SPDX-License-Identifier: Apache-2.0
// Provides the CUDA C++ language that the kit's kernels use: a kernel is a plain C++ function, called once per thread.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#define __forceinline__ inline
#define __launch_bounds__(...)
#define __CUDA_ARCH__ 900
// One block at a time runs in a process: who runs kernels has locked the machine.
#define __shared__ static

struct uint3 {
  unsigned int x, y, z;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
union cudaLaunchAttributeValue {
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned int numAttrs = 0;
};

extern constinit uint3 threadIdx, blockIdx;
extern constinit dim3 blockDim, gridDim;

namespace odori::emulator {

/// __syncthreads(): blocks until all threads of the block have reached this line.
void synchronize_threads(int line);
/// Blocks until all lanes of the warp in `mask` have reached this line. Returns the bits of `lane`.
std::uint64_t exchange_in_warp(unsigned int mask, std::uint64_t bits, int lane, int line);
int lane_of_thread();
/// cudaGridDependencySynchronize(): blocks until the previous kernel has ended.
void wait_for_kernel_before();

/// Queues a kernel; `kernel` is the work of one thread.
cudaError_t queue_kernel(const cudaLaunchConfig_t& config, std::function<void()> kernel);

template <typename T>
T shuffle(unsigned int mask, T value, int lane, int line) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange_in_warp(mask, bits, lane, line);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace odori::emulator

#define __syncthreads() odori::emulator::synchronize_threads(__LINE__)
#define __shfl_xor_sync(mask, value, distance) \
  odori::emulator::shuffle(mask, value, odori::emulator::lane_of_thread() ^ (distance), __LINE__)

inline void __stwb(uint4* to, uint4 value) { *to = value; }
inline unsigned int atomicAdd(unsigned int* to, unsigned int value) { return std::exchange(*to, *to + value); }
inline unsigned int atomicInc(unsigned int* to, unsigned int most) {
  return std::exchange(*to, *to >= most ? 0 : *to + 1);
}
inline void __threadfence() {}  // blocks run one after another
inline float __fmul_rn(float a, float b) { return a * b; }
inline unsigned int __float_as_uint(float x) { return std::bit_cast<unsigned int>(x); }

inline void cudaGridDependencySynchronize() { odori::emulator::wait_for_kernel_before(); }
inline void cudaTriggerProgrammaticLaunchCompletion() {}  // an early start is random here

template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  return odori::emulator::queue_kernel(*config, [kernel, values] { std::apply(kernel, values); });
}
