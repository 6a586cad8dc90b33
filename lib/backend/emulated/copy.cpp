// SPDX-License-Identifier: Apache-2.0
// Implements copies and fills. With pageable host memory the host waits, as in CUDA. With pinned host memory the copy
// reads or writes it when it runs.
#include <cstring>
#include <memory>
#include <vector>

#include "backend/emulated/memory.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

/// True if one allocation of a GPU holds all of these bytes.
bool on_gpu(const void* memory, std::size_t bytes) {
  const Allocation* allocation = find_allocation(memory, bytes);
  return allocation && allocation->gpu >= 0;
}
/// True for host memory that is not pinned.
bool pageable(const void* memory, std::size_t bytes) { return !find_allocation(memory, bytes); }

/// Aborts if an address contradicts the kind of the copy.
void check_kind(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if ((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) && !on_gpu(to, bytes))
    fatal("copy of %zu bytes to a GPU: the destination is not inside an allocation of a GPU.", bytes);
  if ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) && !on_gpu(from, bytes))
    fatal("copy of %zu bytes from a GPU: the source is not inside an allocation of a GPU.", bytes);
  if ((kind == cudaMemcpyHostToDevice && on_gpu(from, 1)) || (kind == cudaMemcpyDeviceToHost && on_gpu(to, 1)))
    fatal("copy of %zu bytes between host and GPU: the host address is in GPU memory.", bytes);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (bytes == 0) return cudaSuccess;
  check_kind(to, from, bytes, kind);
  const Work work = [=] { std::memmove(to, from, bytes); };
  const bool captured = stream && stream->capture;
  const bool reads_pageable = pageable(from, bytes), writes_pageable = pageable(to, bytes);
  if (captured || (!reads_pageable && !writes_pageable)) return enqueue(stream, {work});
  ++state().counts.waits;
  if (reads_pageable) {
    const auto* begin = static_cast<const std::byte*>(from);
    const auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes);
    return enqueue(stream, {[=] { std::memcpy(to, staged->data(), bytes); }});
  }
  const cudaError_t error = enqueue(stream, {work});
  if (error == cudaSuccess) run_all(stream);
  return error;
}

}  // namespace
}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(to, from, bytes, kind, stream);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (bytes == 0) return cudaSuccess;
  if (!on_gpu(memory, bytes)) fatal("cudaMemsetAsync of %zu bytes that are not inside an allocation of a GPU.", bytes);
  return enqueue(stream, {[=] { std::memset(memory, value, bytes); }});
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard lock(state().mutex);
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  check_kind(to, from, bytes, kind);
  ++state().counts.waits;
  run_blocking_streams();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  run_blocking_streams();
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
}
