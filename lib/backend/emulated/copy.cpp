// SPDX-License-Identifier: Apache-2.0
// Implements copies and fills. With pageable host memory the host waits, as in CUDA. With pinned host memory the copy
// reads or writes it when it runs.
#include <cstring>
#include <memory>
#include <vector>

#include "backend/emulated/machine.h"
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

/// Not in `reads`: pageable memory, which a copy on a stream reads before the call returns.
LogEntry copy_entry(const char* call, void* to, const void* from, std::size_t bytes, bool reads_later) {
  LogEntry entry{.kind = OperationKind::copy, .name = call, .writes = {{to, bytes}}, .bytes = bytes};
  if (reads_later) entry.reads = {{from, bytes}};
  return entry;
}
LogEntry fill_entry(const char* call, void* memory, std::size_t bytes) {
  return {.kind = OperationKind::fill, .name = call, .writes = {{memory, bytes}}, .bytes = bytes};
}

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
  LogEntry entry = copy_entry("cudaMemcpyAsync", to, from, bytes, !reads_pageable);
  if (captured || (!reads_pageable && !writes_pageable)) return enqueue(stream, {work}, std::move(entry));
  ++state().counts.waits;
  if (reads_pageable) {
    const auto* begin = static_cast<const std::byte*>(from);
    const auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes);
    return enqueue(stream, {[=] { std::memcpy(to, staged->data(), bytes); }}, std::move(entry));
  }
  const cudaError_t error = enqueue(stream, {work}, std::move(entry));
  if (error != cudaSuccess) return error;
  log_stream_wait("cudaMemcpyAsync to pageable memory", stream);
  if (stream) run_all(stream);
  return cudaSuccess;
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
  return enqueue(stream, {[=] { std::memset(memory, value, bytes); }}, fill_entry("cudaMemsetAsync", memory, bytes));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard lock(state().mutex);
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  check_kind(to, from, bytes, kind);
  ++state().counts.waits;
  log_queued(nullptr, copy_entry("cudaMemcpy", to, from, bytes, true));
  if (!on_gpu(to, bytes) || !on_gpu(from, bytes)) log_stream_wait("cudaMemcpy", nullptr);
  run_blocking_streams();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  log_queued(nullptr, fill_entry("cudaMemset", memory, bytes));
  run_blocking_streams();
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
}
