// SPDX-License-Identifier: Apache-2.0
// Implements the machine: its GPUs, and errors.
#include "backend/emulated/machine.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace odori::emulator {
namespace {

thread_local int gpu = 0;
thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  cudaError_t error;
  const char *name, *description;
};
constexpr ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
};
const ErrorText& text_of(cudaError_t error) {
  for (const ErrorText& text : error_texts)
    if (text.error == error) return text;
  static constexpr ErrorText unknown{cudaErrorInvalidValue, "cudaErrorUnknown", "unknown error"};
  return unknown;
}

/// Returns the GPUs that CUDA_VISIBLE_DEVICES selects. As in CUDA, an index that does not exist ends the list.
std::vector<int> visible_gpus(const char* variable, int gpus) {
  std::vector<int> visible;
  int index = 0, length = 0;
  while (std::sscanf(variable, "%d%n", &index, &length) == 1 && index >= 0 && index < gpus) {
    visible.push_back(index);
    variable += length;
    if (*variable != ',') break;
    ++variable;
  }
  return visible;
}

}  // namespace

/// Reads ODORI_EMULATED_GPUS, ODORI_EMULATED_SEED and CUDA_VISIBLE_DEVICES.
State::State() {
  if (const char* gpus = std::getenv("ODORI_EMULATED_GPUS")) machine.gpus = std::atoi(gpus);
  if (const char* seed = std::getenv("ODORI_EMULATED_SEED")) machine.seed = std::strtoull(seed, nullptr, 10);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    machine.physical = visible_gpus(visible, machine.gpus);
    machine.gpus = static_cast<int>(machine.physical.size());
  }
  random.seed(machine.seed);
}

State& state() {
  static State instance;
  return instance;
}

cudaError_t set_last_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t check_machine() {
  if (state().machine.driver != cudaSuccess) return state().machine.driver;
  return state().machine.gpus > 0 ? cudaSuccess : cudaErrorNoDevice;
}

int current_gpu() { return gpu; }

int physical_gpu(int index) {
  const std::vector<int>& physical = state().machine.physical;
  return physical.empty() ? index : physical[static_cast<std::size_t>(index)];
}

void set_machine(const Machine& machine) {
  const std::lock_guard lock(state().mutex);
  if (!state().allocations.empty() || !state().streams.empty())
    fatal("set_machine: %zu allocations and %zu streams of the old machine still exist.", state().allocations.size(),
          state().streams.size());
  state().machine = machine;
  state().random.seed(machine.seed);
  gpu = 0;
}

Counts counts() {
  const std::lock_guard lock(state().mutex);
  return state().counts;
}

void fatal(const char* format, ...) {
  std::fflush(stdout);
  std::fputs("Emulated GPU: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).description; }
cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
  const std::lock_guard lock(state().mutex);
  *count = check_machine() == cudaSuccess ? state().machine.gpus : 0;
  return set_last_error(check_machine());
}
cudaError_t cudaGetDevice(int* device) {
  *device = gpu;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  if (device < 0 || device >= state().machine.gpus) return set_last_error(cudaErrorInvalidDevice);
  gpu = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const std::lock_guard lock(state().mutex);
  if (device < 0 || device >= state().machine.gpus) return set_last_error(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "Emulated GPU");
  properties->uuid.bytes[0] = static_cast<char>(physical_gpu(device) + 1);
  properties->totalGlobalMem = state().machine.memory_bytes;
  properties->major = state().machine.architecture;
  properties->multiProcessorCount = 4;
  properties->pciBusID = physical_gpu(device) + 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  *value = attribute == cudaDevAttrMultiProcessorCount      ? properties.multiProcessorCount
           : attribute == cudaDevAttrComputeCapabilityMajor ? properties.major
                                                            : properties.minor;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", physical_gpu(device) + 1);
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {.binaryVersion = 10 * state().machine.architecture, .ptxVersion = state().machine.code};
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = state().machine.driver == cudaErrorInsufficientDriver ? CUDART_VERSION - 2000 : CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int peer) {
  return cudaDeviceCanAccessPeer(value, device, peer);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return cudaSuccess; }
}
