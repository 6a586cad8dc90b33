// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/host_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "errors/error.h"

namespace odori::cpu {

namespace {

/// What threads, oneDNN and its compiled kernels take besides a model's memory, in bytes.
constexpr std::size_t besides(std::size_t threads) { return (32 + 16 * threads) << 20; }

/// What remains of the address space (ulimit -v), in bytes.
std::size_t addressable_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t taken = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

/// Linux hands out more memory than there is, and ends the process when it is used: so ask before.
std::size_t available_bytes() {
  std::size_t available = std::numeric_limits<std::size_t>::max();
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:")) available = std::stoull(line.substr(line.find(':') + 1)) << 10;
  return available;
}

}  // namespace

void require_address_space(int threads) {
  const std::size_t needed = besides(static_cast<std::size_t>(threads)), left = addressable_bytes();
  require(left >= needed,
          "A limit on memory (ulimit -v) leaves {} MB, and {} thread{} of CPU devices need{} at least {} MB, and the "
          "model's memory. Raise it: ulimit -v unlimited.",
          left >> 20, threads, threads == 1 ? "" : "s", threads == 1 ? "s" : "", needed >> 20);
}

Buffer allocate_floats(std::size_t n) {
  // Huge pages (2 MB): a step walks through hundreds of megabytes, and small pages cost misses of the TLB.
  constexpr std::size_t huge_page = 2 << 20, cache_line = 64;
  const std::size_t wanted = n * sizeof(float) + cache_line;  // vector instructions may read past the last number
  const std::size_t alignment = wanted >= huge_page ? huge_page : cache_line;
  const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
  constexpr std::size_t kept = besides(2);
  const std::size_t free = available_bytes(), left = addressable_bytes(), addressable = left > kept ? left - kept : 0;
  require(bytes < huge_page || bytes <= addressable,
          "{} MB of memory are needed, but a limit (ulimit -v) leaves {} MB. Raise it, or use a smaller --batchsize or "
          "fewer devices.",
          bytes >> 20, addressable >> 20);
  void* memory = bytes <= free ? std::aligned_alloc(alignment, bytes) : nullptr;
  require(memory != nullptr,
          "{} MB of memory are needed, and {} MB are free. Use a smaller --batchsize or fewer devices.", bytes >> 20,
          free >> 20);
#ifdef MADV_HUGEPAGE
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
  return Buffer(static_cast<float*>(memory), n, [](float* p) noexcept { std::free(p); });
}

}  // namespace odori::cpu
