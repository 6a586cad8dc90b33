// SPDX-License-Identifier: Apache-2.0
// Plans the memory of each tensor of a graph with MemoryRegions.
//
// Tensors get a place while the graph is built, and memory in finish(), in one allocation.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "backend/buffer.h"
#include "backend/memory_regions.h"

namespace odori::cpu {

class MemoryPlan {
 public:
  explicit MemoryPlan(const dnnl::engine& engine) : engine_(engine) {}

  dnnl::memory own(const dnnl::memory::desc& layout) { return place(regions_.own(layout.get_size()), layout); }
  /// `side`: which of the two gradient regions, 0 or 1.
  dnnl::memory gradient(const dnnl::memory::desc& layout, int side) {
    return place(regions_.gradient(layout.get_size(), side), layout);
  }
  void begin_pass() { regions_.begin_pass(); }
  dnnl::memory scratch(const dnnl::memory::desc& layout) { return place(regions_.scratch(layout.get_size()), layout); }
  /// Another view of a memory of this plan.
  dnnl::memory alias(const dnnl::memory& of, const dnnl::memory::desc& layout);
  /// A view of a flat vector of the model, which may be allocated until finish().
  dnnl::memory in_buffer(Buffer& buffer, std::size_t offset, const dnnl::memory::desc& layout);

  void finish();
  /// Bytes of all regions together.
  std::size_t bytes() const { return storage_.bytes(); }

 private:
  struct Placed {
    dnnl::memory memory;
    MemoryRegions::Place place;
  };
  struct BufferPlace {
    dnnl::memory memory;
    Buffer* buffer;
    std::size_t offset;
  };
  struct Alias {
    dnnl::memory memory, of;
  };
  dnnl::memory place(const MemoryRegions::Place& at, const dnnl::memory::desc& layout);

  dnnl::engine engine_;
  MemoryRegions regions_{64};  // a cache line
  std::vector<Placed> places_;
  std::vector<BufferPlace> buffer_places_;
  std::vector<Alias> aliases_;
  Buffer storage_;
};

}  // namespace odori::cpu
