// SPDX-License-Identifier: Apache-2.0
#include "bench/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>

// glibc's own names for what is replaced here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace odori::bench {
namespace {

constinit std::atomic<std::size_t> calls = 0, bytes = 0, largest = 0;
constinit std::atomic<std::ptrdiff_t> kept = 0;

void* count(void* block, std::size_t size) noexcept {
  ++calls;
  bytes += size;
  kept += static_cast<std::ptrdiff_t>(malloc_usable_size(block));
  for (std::size_t seen = largest; size > seen && !largest.compare_exchange_weak(seen, size);) {
  }
  return block;
}
void give_back(void* block) noexcept { kept -= static_cast<std::ptrdiff_t>(malloc_usable_size(block)); }

}  // namespace

void count_allocations() {
  calls = bytes = largest = 0;
  kept = 0;
}
Allocations allocations() { return {calls, bytes, largest, kept}; }

}  // namespace odori::bench

extern "C" {

void* malloc(std::size_t size) { return odori::bench::count(__libc_malloc(size), size); }
void* calloc(std::size_t n, std::size_t size) { return odori::bench::count(__libc_calloc(n, size), n * size); }
void* realloc(void* old, std::size_t size) {
  odori::bench::give_back(old);
  return odori::bench::count(__libc_realloc(old, size), size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return odori::bench::count(__libc_memalign(alignment, size), size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  *result = memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
void free(void* block) {
  odori::bench::give_back(block);
  __libc_free(block);
}
}
