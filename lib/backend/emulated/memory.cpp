// SPDX-License-Identifier: Apache-2.0
// Implements memory of the emulated GPUs: host memory between guards, filled with NaN.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/emulated/machine.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

constexpr std::size_t guard_bytes = 512, alignment = 256;
constexpr auto guard = std::byte{0xa5}, fresh = std::byte{0xff};  // 0xffff and 0xffffffff are NaN in bf16, fp16, fp32

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Large blocks lie on huge pages: clearing them takes a third of the time.
std::byte* new_block(std::size_t bytes) {
  constexpr std::size_t huge_page = 2 << 20;
  // The size must be a multiple of the alignment.
  void* const block = bytes < huge_page
                          ? std::aligned_alloc(alignment, bytes)
                          : std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
#ifdef MADV_HUGEPAGE
  if (block && bytes >= huge_page) madvise(block, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(block);
}

bool is_guard(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte b) { return b == guard; });
}

void check_guards(const std::byte* memory, const Allocation& a) {
  if (!is_guard(a.begin, memory) || !is_guard(memory + a.bytes, a.begin + rounded(a.bytes) + 2 * guard_bytes))
    fatal("out-of-bounds write next to an allocation of %zu bytes of %s.", a.bytes,
          a.gpu < 0 ? "pinned host memory" : "GPU memory");
}

cudaError_t allocate(void** memory, std::size_t bytes, int gpu) {
  const std::lock_guard lock(state().mutex);
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  ++state().counts.allocations;
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::size_t total = rounded(bytes) + 2 * guard_bytes;
  if (gpu >= 0 && allocated_bytes(gpu) + rounded(bytes) > state().machine.memory_bytes)
    return set_last_error(cudaErrorMemoryAllocation);
  std::byte* const begin = new_block(total);
  if (!begin) return set_last_error(cudaErrorMemoryAllocation);
  std::byte* const end = std::fill_n(std::fill_n(begin, guard_bytes, guard), bytes, fresh);
  std::fill(end, begin + total, guard);
  state().allocations[begin + guard_bytes] = {begin, bytes, gpu};
  *memory = begin + guard_bytes;
  return cudaSuccess;
}

cudaError_t deallocate(void* memory, bool of_gpu) {
  const std::lock_guard lock(state().mutex);
  if (!memory) return cudaSuccess;
  if (check_may_wait(nullptr) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  const auto found = state().allocations.find(static_cast<std::byte*>(memory));
  if (found == state().allocations.end() || (found->second.gpu >= 0) != of_gpu)
    return set_last_error(cudaErrorInvalidValue);
  log_gpu_wait(of_gpu ? "cudaFree" : "cudaFreeHost", found->second.gpu, {{memory, found->second.bytes}});
  run_gpu(all_gpus);  // cudaFree waits for all work that may use the memory
  check_guards(found->first, found->second);
  std::free(found->second.begin);
  state().allocations.erase(found);
  return cudaSuccess;
}

}  // namespace

std::size_t allocated_bytes(int gpu) {
  const std::lock_guard lock(state().mutex);
  std::size_t sum = 0;
  for (const auto& [memory, a] : state().allocations)
    if (a.gpu == gpu) sum += rounded(a.bytes);
  return sum;
}

const Allocation* find_allocation(const void* memory, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(memory);
  const auto after = state().allocations.upper_bound(const_cast<std::byte*>(begin));
  if (after == state().allocations.begin()) return nullptr;
  const auto& [first, a] = *std::prev(after);
  return begin + bytes <= first + a.bytes ? &a : nullptr;
}

void check_guards() {
  for (const auto& [memory, a] : state().allocations) check_guards(memory, a);
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes, current_gpu()); }
cudaError_t cudaFree(void* memory) { return deallocate(memory, true); }
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return allocate(memory, bytes, -1); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned int) { return allocate(memory, bytes, -1); }
cudaError_t cudaFreeHost(void* memory) { return deallocate(memory, false); }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const std::lock_guard lock(state().mutex);
  if (check_machine() != cudaSuccess) return set_last_error(check_machine());
  *total = state().machine.memory_bytes;
  *free = *total - allocated_bytes(current_gpu());
  return cudaSuccess;
}
}
