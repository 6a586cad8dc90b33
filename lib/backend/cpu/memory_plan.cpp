// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/memory_plan.h"

#include "backend/cpu/host_memory.h"

namespace odori::cpu {

dnnl::memory MemoryPlan::place(const MemoryRegions::Place& at, const dnnl::memory::desc& layout) {
  dnnl::memory memory(layout, engine_, nullptr);
  places_.push_back({memory, at});
  return memory;
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
  storage_ = allocate_floats(regions_.bytes() / sizeof(float));
  auto* base = reinterpret_cast<std::byte*>(storage_.data());
  for (Placed& placed : places_) placed.memory.set_data_handle(base + regions_.position(placed.place));
  for (BufferPlace& place : buffer_places_) place.memory.set_data_handle(place.buffer->data() + place.offset);
  for (Alias& alias : aliases_) alias.memory.set_data_handle(alias.of.get_data_handle());
}

}  // namespace odori::cpu
