// Copies and fills. Where host memory isn't pinned, the host waits, as it does with CUDA; where it is, the copy reads
// it when it runs.
#include <cstring>
#include <memory>
#include <vector>

#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

/// Is this memory of a GPU? All of it has to be.
bool on_gpu(const void* memory, std::size_t bytes) {
  const Allocation* in = find_allocation(memory, bytes);
  return in && in->gpu >= 0;
}
bool pinned(const void* memory, std::size_t bytes) {
  const Allocation* in = find_allocation(memory, bytes);
  return in && in->gpu < 0;
}

/// Complains about an address on the wrong side.
void check_sides(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if ((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) && !on_gpu(to, bytes))
    complain("%zu bytes are copied to a GPU, but not all of them to memory that was allocated there.", bytes);
  if ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) && !on_gpu(from, bytes))
    complain("%zu bytes are copied from a GPU, but not all of them from memory that was allocated there.", bytes);
  if ((kind == cudaMemcpyHostToDevice && on_gpu(from, 1)) || (kind == cudaMemcpyDeviceToHost && on_gpu(to, 1)))
    complain("%zu bytes are copied from the host or to it, but the address is one of a GPU.", bytes);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::lock_guard lock(state().mutex);
  if (bytes == 0) return cudaSuccess;
  check_sides(to, from, bytes, kind);
  const Work work = [=] { std::memmove(to, from, bytes); };
  const bool recorded = stream && stream->capture;
  const bool host_reads = !on_gpu(from, bytes) && !pinned(from, bytes);
  const bool host_writes = !on_gpu(to, bytes) && !pinned(to, bytes);
  if (recorded || (!host_reads && !host_writes)) return queue_item(stream, {work, nullptr});
  ++state().counts.waits;
  if (host_reads) {
    const auto* begin = static_cast<const std::byte*>(from);
    const auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes);
    return queue_item(stream, {[=] { std::memcpy(to, staged->data(), bytes); }, nullptr});
  }
  const cudaError_t error = queue_item(stream, {work, nullptr});
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
  if (!on_gpu(memory, bytes)) complain("%zu bytes are filled that are not a GPU's.", bytes);
  return queue_item(stream, {[=] { std::memset(memory, value, bytes); }, nullptr});
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard lock(state().mutex);
  if (check_waiting(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  check_sides(to, from, bytes, kind);
  ++state().counts.waits;
  run_before_default();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  if (check_waiting(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (bytes == 0) return cudaSuccess;
  run_before_default();
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
}
