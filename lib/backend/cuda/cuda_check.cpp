// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_check.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "backend/cuda/kernels/launch.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

/// What to do about it, where that isn't plain from CUDA's own words.
std::string remedy(cudaError_t error) {
  switch (error) {
    case cudaErrorNoKernelImageForDevice: {
      int device = 0, major = 0, minor = 0;
      cudaGetDevice(&device);
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
      return fmt::format(
          " This build holds no code for its architecture, {0}.{1}: build on this machine, or with "
          "-DCMAKE_CUDA_ARCHITECTURES={0}{1}.",
          major, minor);
    }
    case cudaErrorMemoryAllocation:
      return " Lower --batchsize, --image-size or --workspace-mib.";
    case cudaErrorDevicesUnavailable:
      return " Another process has it for itself alone: nvidia-smi shows who, and the compute mode.";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
      return " It can't go on after that: start again. If it happens again, `dmesg` and `nvidia-smi -q` say whether "
             "the hardware is at fault, and compute-sanitizer where the program is.";
    default:
      return "";
  }
}

/// What this process holds on GPUs.
struct Held {
  struct Piece {
    int gpu;
    std::size_t bytes;
  };
  struct Sum {
    std::size_t bytes = 0, most = 0;
  };
  std::mutex mutex{};
  std::map<const void*, Piece> pieces{};
  std::map<int, Sum> of_gpu{};
};
Held& held() {
  static Held instance;
  return instance;
}

std::size_t mebibytes(std::size_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

}  // namespace

std::string current_gpu() {
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? fmt::format("GPU {}", device) : "The GPU";
}

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // told here, once
  fail("{} failed while {}: {} ({}).{}", current_gpu(), doing, cudaGetErrorString(error), cudaGetErrorName(error),
       remedy(error));
}

void check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail("{} failed while {}: cuBLAS says {}.{}", current_gpu(), doing, cublasGetStatusString(status),
       status == CUBLAS_STATUS_ALLOC_FAILED ? remedy(cudaErrorMemoryAllocation) : "");
}

namespace kernels {
namespace {

thread_local bool dependent = false;

}  // namespace

bool launches_dependent() { return dependent; }
void set_launches_dependent(bool on) { dependent = on; }

void check_launch(cudaError_t error, const char* kernel) {
  if (error != cudaSuccess) check(error, fmt::format("starting the kernel {}", kernel).c_str());
}

}  // namespace kernels

cudaError_t allocate_device(void** memory, std::size_t bytes) {
  int gpu = 0;
  if (const cudaError_t error = cudaGetDevice(&gpu); error != cudaSuccess) return error;
  if (const cudaError_t error = cudaMalloc(memory, bytes); error != cudaSuccess) return error;
  const std::lock_guard lock(held().mutex);
  held().pieces[*memory] = {gpu, bytes};
  Held::Sum& sum = held().of_gpu[gpu];
  sum.bytes += bytes;
  sum.most = std::max(sum.most, sum.bytes);
  return cudaSuccess;
}

void FreeDevice::operator()(std::byte* memory) const noexcept {
  {
    const std::lock_guard lock(held().mutex);  // before CUDA can give the address to another thread
    if (const auto piece = held().pieces.find(memory); piece != held().pieces.end()) {
      held().of_gpu[piece->second.gpu].bytes -= piece->second.bytes;
      held().pieces.erase(piece);
    }
  }
  static_cast<void>(cudaFree(memory));
}

std::size_t peak_memory_of(int ordinal) {
  const std::lock_guard lock(held().mutex);
  return held().of_gpu[ordinal].most;
}

Stream new_stream() {
  cudaStream_t stream = nullptr;
  // Non-blocking: nothing here stands on the default stream, and nothing shall wait for it.
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}

Event new_event(bool timed) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming), "making an event");
  return Event(event);
}

DeviceMemory allocate_zeros(std::size_t bytes, const char* what, cudaStream_t stream) {
  void* memory = nullptr;
  const cudaError_t error = allocate_device(&memory, std::max<std::size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    fail(
        "{} is out of memory: {} need {} MiB, and {} of its {} MiB are free. Lower --batchsize, --image-size or "
        "--workspace-mib, or see with nvidia-smi who has the rest.",
        current_gpu(), what, mebibytes(bytes), free >> 20, total >> 20);
  }
  check(error, "allocating memory");
  DeviceMemory owned(static_cast<std::byte*>(memory));
  check(cudaMemsetAsync(memory, 0, bytes, stream), "clearing memory");
  return owned;
}

PinnedMemory allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail("{} MiB of host memory can't be page-locked for {}: there is too little of it. Lower --batchsize.",
         mebibytes(bytes), current_gpu());
  }
  check(error, "allocating page-locked memory");
  return PinnedMemory(static_cast<std::byte*>(memory));
}

}  // namespace odori::cuda
