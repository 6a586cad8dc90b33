#include "backend/cpu/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "core/error.h"

namespace odori::cpu {

namespace {

/// Linux hands out more memory than there is, and ends the process when it is used: so ask before.
std::size_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(line.find(':') + 1)) << 10;
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace

Buffer allocate_floats(std::size_t n) {
  // Huge pages (2 MB): a step walks through hundreds of megabytes, and small pages cost misses of the TLB.
  constexpr std::size_t huge_page = 2 << 20, cache_line = 64;
  const std::size_t wanted = n * sizeof(float) + cache_line;  // vector instructions may read past the last number
  const std::size_t alignment = wanted >= huge_page ? huge_page : cache_line;
  const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
  const std::size_t free = available_bytes();
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
