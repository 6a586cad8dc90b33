// SPDX-License-Identifier: Apache-2.0
// Sends batches to the GPU through pinned memory: random key, labels and indices of the images with one asynchronous
// copy. Images of a data set that is not on the GPU follow with a second one.
#pragma once

#include <vector>

#include "backend/cuda/operation.h"

namespace odori::cuda {

class Loader {
 public:
  /// Allocates for batches of this shape. Until then only the address of step() may be used.
  void finish(CudaDevice& device, const Shape& shape);
  /// Queues the copies and the kernel that fills `input`. The host waits if it is as many steps ahead as there are
  /// slots. Throws Error if the batch does not fit the shape.
  void load(const Batch& batch, const RandomKey& key, Storage storage, void* input);
  /// Sends the key unless it is unchanged.
  void send_key(const RandomKey& key);
  /// Sends the factors of the next update unless they are unchanged.
  void send_update(const UpdateFactors& factors);
  const DeviceMemory& step() const { return step_; }

 private:
  /// Pinned memory of one step; free again when its copies are done.
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
  DeviceMemory images_;  // of one batch, for images that are not on the GPU; allocated when first needed
  std::vector<Slot> slots_;
  std::size_t n_sent_ = 0;
  Step sent_{};  // the GPU's contents after the copies queued so far
};

}  // namespace odori::cuda
