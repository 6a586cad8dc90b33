// SPDX-License-Identifier: Apache-2.0
// A batch on its way to the GPU: what changes from step to step is gathered in pinned memory and sent with one
// asynchronous copy; the images are in the GPU's memory already, or go the same way.
#pragma once

#include <vector>

#include "backend/cuda/operation.h"

namespace odori::cuda {

class Loader {
 public:
  /// Allocates for batches of this shape; before, the loader only has its place.
  void finish(CudaDevice& device, const Shape& shape);
  /// Sends the step, and queues the filling of `input`. Throws Error if the batch doesn't fit the shape.
  void load(const Batch& batch, const RandomKey& key, Storage storage, void* input);
  /// Sends the key, unless it is the one that was sent last.
  void send_key(const RandomKey& key);
  const DeviceMemory& step() const { return step_; }

 private:
  /// Pinned memory that one copy reads; free again when the copy is done.
  struct Slot {
    PinnedMemory step, images;
    Event copied;
  };
  Slot& next_slot();
  void check_batch(const Batch& batch) const;
  void place_images(const Batch& batch, Slot& slot);
  void make_room_for_images();
  void send(Slot& slot, std::size_t bytes);

  CudaDevice* device_ = nullptr;
  Shape shape_;
  DeviceMemory step_;    // a Step with its examples
  DeviceMemory images_;  // of one batch, where the data set isn't there as a whole; made when first needed
  std::vector<Slot> slots_;
  std::size_t n_sent_ = 0;
  Step sent_{};  // what the GPU has, or will have
};

}  // namespace odori::cuda
