// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/image_store.h"

#include <algorithm>

#include "errors/error.h"

namespace odori::cuda {
namespace {

/// Null if it doesn't fit: half of what is free stays free.
DeviceMemory upload(const ImageStorage& storage, cudaStream_t stream) {
  std::size_t bytes = 0, free = 0, total = 0;
  for (const auto part : storage.parts) bytes += part.size();
  check(cudaMemGetInfo(&free, &total), "asking for its free memory");
  if (bytes == 0 || bytes > free / 2) return {};
  void* memory = nullptr;
  const cudaError_t error = allocate_device(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {  // in pieces, or taken by another process since
    cudaGetLastError();
    return {};
  }
  check(error, "allocating memory for the images");
  DeviceMemory owned(static_cast<std::byte*>(memory));
  std::byte* to = owned.get();
  for (const auto part : storage.parts) {
    check(cudaMemcpyAsync(to, part.data(), part.size(), cudaMemcpyHostToDevice, stream), "copying images to it");
    to += part.size();
  }
  check(cudaStreamSynchronize(stream), "copying images to it");
  return owned;
}

}  // namespace

const std::uint8_t* ImageCopy::find(const std::uint8_t* pixels) const {
  if (!memory_) return nullptr;
  const ImageStoragePtr storage = storage_.lock();
  const auto* part_begin = reinterpret_cast<const std::uint8_t*>(memory_.get());
  for (const auto part : storage->parts) {
    if (pixels >= part.data() && pixels + Example::bytes <= part.data() + part.size())
      return part_begin + (pixels - part.data());
    part_begin += part.size();
  }
  return nullptr;
}

const ImageCopy& ImageStore::copy_of(const ImageStoragePtr& storage, cudaStream_t stream) {
  for (const auto& copy : copies_)
    if (copy->is_of(storage)) return *copy;
  // Freeing waits for the GPU, so nothing reads what goes.
  std::erase_if(copies_, [](const auto& copy) { return copy->is_outdated(); });
  copies_.push_back(std::make_unique<ImageCopy>(storage, upload(*storage, stream)));
  return *copies_.back();
}

}  // namespace odori::cuda
