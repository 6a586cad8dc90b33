// SPDX-License-Identifier: Apache-2.0
// The memory of each tensor of a graph, by the rule in memory_regions.h.
//
// Tensors are asked for while the graph is built, without memory; finish() allocates all of it at once. All work on it
// is queued on one stream, so that a region's next user always comes after the one before.
#pragma once

#include "backend/cuda/cuda_check.h"
#include "backend/memory_regions.h"

namespace odori::cuda {

class MemoryPlan;

/// A place in a graph's memory; false where there is none.
class Place {
 public:
  Place() = default;
  Place(const MemoryPlan& plan, const MemoryRegions::Place& at) : plan_(&plan), at_(at) {}
  explicit operator bool() const { return plan_ != nullptr; }
  /// Device memory, from finish() on; null for no place.
  void* data() const;

 private:
  const MemoryPlan* plan_ = nullptr;
  MemoryRegions::Place at_;
};

class MemoryPlan {
 public:
  Place own(std::size_t bytes) { return {*this, regions_.own(bytes)}; }
  /// In region `side`, 0 or 1.
  Place gradient(std::size_t bytes, int side) { return {*this, regions_.gradient(bytes, side)}; }
  void begin_pass() { regions_.begin_pass(); }
  Place scratch(std::size_t bytes) { return {*this, regions_.scratch(bytes)}; }

  void finish(cudaStream_t stream) { storage_ = allocate_zeros(regions_.bytes(), "the network's activations", stream); }
  /// Bytes of all regions together.
  std::size_t bytes() const { return regions_.bytes(); }

 private:
  friend class Place;
  MemoryRegions regions_{256};  // what cudaMalloc gives, and more than the widest access needs
  DeviceMemory storage_;
};

inline void* Place::data() const { return plan_ ? plan_->storage_.get() + plan_->regions_.position(at_) : nullptr; }

}  // namespace odori::cuda
