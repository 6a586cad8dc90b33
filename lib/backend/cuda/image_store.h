// SPDX-License-Identifier: Apache-2.0
// Data sets in a GPU's memory: each is copied there once, when its first batch is loaded, if there is room for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/cuda_check.h"
#include "data/batch.h"

namespace odori::cuda {

/// The copy of one data set's images.
class ImageCopy {
 public:
  ImageCopy(const ImageStoragePtr& storage, DeviceMemory memory) : storage_(storage), memory_(std::move(memory)) {}

  bool is_of(const ImageStoragePtr& storage) const { return storage_.lock() == storage; }
  bool is_outdated() const { return storage_.expired(); }
  /// The place of the image of this host address in the GPU's memory; null if there was no room for the set, or if
  /// it isn't part of it.
  const std::uint8_t* find(const std::uint8_t* pixels) const;

 private:
  std::weak_ptr<const ImageStorage> storage_;
  DeviceMemory memory_;  // the parts one after another, or null: no room
};

class ImageStore {
 public:
  /// The copy of this storage, made now if need be. A set that has gone since takes no memory any more.
  const ImageCopy& copy_of(const ImageStoragePtr& storage, cudaStream_t stream);

 private:
  std::vector<std::unique_ptr<ImageCopy>> copies_;
};

}  // namespace odori::cuda
