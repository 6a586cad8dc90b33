// Which memory each tensor of a graph stands in.
//
//   own       values, masks, workspaces: kept from forward to backward
//   gradient  two storages in turn: in a row of operations, backward reads one gradient and writes the one before
//   scratch   one storage for what lives during a single pass of a single operation
//
// Tensors are asked for while the graph is built, without memory; finish() allocates all of it at once.
#pragma once

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "backend/buffer.h"

namespace odori::cpu {

class MemoryPlan {
 public:
  explicit MemoryPlan(const dnnl::engine& engine) : engine_(engine) {}

  dnnl::memory own(const dnnl::memory::desc& layout);
  /// In storage `side`, 0 or 1.
  dnnl::memory gradient(const dnnl::memory::desc& layout, int side);
  /// Scratch memories that were asked for since the last begin_pass() live side by side.
  void begin_pass() { scratch_used_ = 0; }
  dnnl::memory scratch(const dnnl::memory::desc& layout);
  /// Another description of a memory that this plan handed out.
  dnnl::memory alias(const dnnl::memory& of, const dnnl::memory::desc& layout);
  /// Stands in a flat vector of the model, which may be allocated until finish().
  dnnl::memory in_buffer(Buffer& buffer, std::size_t offset, const dnnl::memory::desc& layout);

  void finish();
  /// Bytes of the three kinds together.
  std::size_t bytes() const { return storage_.bytes(); }

 private:
  enum Region { region_own, region_gradient_0, region_gradient_1, region_scratch, n_regions };
  struct Place {
    dnnl::memory memory;
    Region region;
    std::size_t offset;
  };
  struct BufferPlace {
    dnnl::memory memory;
    Buffer* buffer;
    std::size_t offset;
  };
  struct Alias {
    dnnl::memory memory, of;
  };
  dnnl::memory place(Region region, std::size_t offset, const dnnl::memory::desc& layout);

  dnnl::engine engine_;
  std::vector<Place> places_;
  std::vector<BufferPlace> buffer_places_;
  std::vector<Alias> aliases_;
  std::array<std::size_t, n_regions> bytes_{};
  std::size_t scratch_used_ = 0;
  Buffer storage_;
};

}  // namespace odori::cpu
