// SPDX-License-Identifier: Apache-2.0
// Plans the memory of each tensor of a graph with MemoryRegions.
//
// Tensors get a place while the graph is built, and memory in finish(), in one allocation. All work is queued on one
// stream, so the uses of a region are ordered.
#pragma once

#include "backend/cuda/cuda_check.h"
#include "backend/memory_regions.h"

namespace odori::cuda {

class MemoryPlan;

/// A position in a graph's memory; false if there is none.
class Place {
 public:
  Place() = default;
  Place(const MemoryPlan& plan, const MemoryRegions::Place& at) : plan_(&plan), at_(at) {}
  explicit operator bool() const { return plan_ != nullptr; }
  /// Its device memory, valid after finish(). Null if there is none.
  void* data() const;

 private:
  const MemoryPlan* plan_ = nullptr;
  MemoryRegions::Place at_;
};

class MemoryPlan {
 public:
  Place own(std::size_t bytes) { return {*this, regions_.own(bytes)}; }
  /// `side`: which of the two gradient regions, 0 or 1.
  Place gradient(std::size_t bytes, int side) { return {*this, regions_.gradient(bytes, side)}; }
  void begin_pass() { regions_.begin_pass(); }
  Place scratch(std::size_t bytes) { return {*this, regions_.scratch(bytes)}; }

  void finish(cudaStream_t stream) { storage_ = allocate_zeros(regions_.bytes(), "the network's activations", stream); }
  /// Bytes of all regions together.
  std::size_t bytes() const { return regions_.bytes(); }

 private:
  friend class Place;
  MemoryRegions regions_{256};  // cudaMalloc's alignment
  DeviceMemory storage_;
};

inline void* Place::data() const { return plan_ ? plan_->storage_.get() + plan_->regions_.position(at_) : nullptr; }

}  // namespace odori::cuda
