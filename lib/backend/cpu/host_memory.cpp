#include "backend/cpu/host_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace odori::cpu {

Buffer allocate_floats(std::size_t n) {
  // Huge pages (2 MB): a step walks through hundreds of megabytes, and small pages cost misses of the TLB.
  constexpr std::size_t huge_page = 2 << 20, cache_line = 64;
  const std::size_t wanted = n * sizeof(float) + cache_line;  // vector instructions may read past the last number
  const std::size_t alignment = wanted >= huge_page ? huge_page : cache_line;
  const std::size_t bytes = (wanted + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, bytes);
  require(memory != nullptr, "There is no memory left for {} MB. Use a smaller --batchsize or fewer devices.",
          bytes >> 20);
#ifdef MADV_HUGEPAGE
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
  return Buffer(static_cast<float*>(memory), n, [](float* p) noexcept { std::free(p); });
}

}  // namespace odori::cpu
