#include "bench/allocations.h"

#include <atomic>
#include <cerrno>

// glibc's own names for what is replaced here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace odori::bench {
namespace {

constinit std::atomic<std::size_t> calls = 0, bytes = 0, largest = 0;

void count(std::size_t size) noexcept {
  ++calls;
  bytes += size;
  for (std::size_t seen = largest; size > seen && !largest.compare_exchange_weak(seen, size);) {
  }
}

}  // namespace

void count_allocations() { calls = bytes = largest = 0; }
Allocations allocations() { return {calls, bytes, largest}; }

}  // namespace odori::bench

extern "C" {

void* malloc(std::size_t size) {
  odori::bench::count(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  odori::bench::count(n * size);
  return __libc_calloc(n, size);
}
void* realloc(void* old, std::size_t size) {
  odori::bench::count(size);
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  odori::bench::count(size);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  *result = memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
}
