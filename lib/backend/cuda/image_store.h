// SPDX-License-Identifier: Apache-2.0
// Caches data sets in GPU memory: each is copied once, when its first batch is loaded, if there is enough memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/cuda_check.h"
#include "data/batch.h"

namespace odori::cuda {

/// A copy of the images of one data set.
class ImageCopy {
 public:
  ImageCopy(const ImageStoragePtr& storage, DeviceMemory memory) : storage_(storage), memory_(std::move(memory)) {}

  bool is_of(const ImageStoragePtr& storage) const { return storage_.lock() == storage; }
  bool is_outdated() const { return storage_.expired(); }
  /// Returns the GPU address of the image at this host address. Null if the image is not in the set, or the set is not
  /// on the GPU.
  const std::uint8_t* find(const std::uint8_t* pixels) const;

 private:
  std::weak_ptr<const ImageStorage> storage_;
  DeviceMemory memory_;  // all parts, concatenated; null: not enough memory
};

class ImageStore {
 public:
  /// Returns the copy of this storage, and creates it if needed. Frees copies of destroyed data sets.
  const ImageCopy& copy_of(const ImageStoragePtr& storage, cudaStream_t stream);

 private:
  std::vector<std::unique_ptr<ImageCopy>> copies_;
};

}  // namespace odori::cuda
