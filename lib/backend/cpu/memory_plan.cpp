#include "backend/cpu/memory_plan.h"

#include <algorithm>

#include "backend/cpu/host_memory.h"

namespace odori::cpu {
namespace {

std::size_t whole_cache_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

dnnl::memory MemoryPlan::place(Region region, std::size_t offset, const dnnl::memory::desc& layout) {
  dnnl::memory memory(layout, engine_, nullptr);
  places_.push_back({memory, region, offset});
  bytes_[region] = std::max(bytes_[region], offset + whole_cache_lines(layout.get_size()));
  return memory;
}

dnnl::memory MemoryPlan::own(const dnnl::memory::desc& layout) { return place(region_own, bytes_[region_own], layout); }

dnnl::memory MemoryPlan::gradient(const dnnl::memory::desc& layout, int side) {
  return place(side == 0 ? region_gradient_0 : region_gradient_1, 0, layout);
}

dnnl::memory MemoryPlan::scratch(const dnnl::memory::desc& layout) {
  const std::size_t offset = scratch_used_;
  scratch_used_ += whole_cache_lines(layout.get_size());
  return place(region_scratch, offset, layout);
}

dnnl::memory MemoryPlan::alias(const dnnl::memory& of, const dnnl::memory::desc& layout) {
  dnnl::memory memory(layout, engine_, nullptr);
  aliases_.push_back({memory, of});
  return memory;
}

dnnl::memory MemoryPlan::in_buffer(Buffer& buffer, std::size_t offset, const dnnl::memory::desc& layout) {
  dnnl::memory memory(layout, engine_, nullptr);
  buffer_places_.push_back({memory, &buffer, offset});
  return memory;
}

void MemoryPlan::finish() {
  std::size_t total = 0;
  std::array<std::size_t, n_regions> begin;
  for (int region = 0; region < n_regions; ++region) {
    begin[region] = total;
    total += bytes_[region];
  }
  storage_ = allocate_floats(total / sizeof(float));
  auto* base = reinterpret_cast<std::byte*>(storage_.data());
  for (Place& place : places_) place.memory.set_data_handle(base + begin[place.region] + place.offset);
  for (BufferPlace& place : buffer_places_) place.memory.set_data_handle(place.buffer->data() + place.offset);
  for (Alias& alias : aliases_) alias.memory.set_data_handle(alias.of.get_data_handle());
}

}  // namespace odori::cpu
