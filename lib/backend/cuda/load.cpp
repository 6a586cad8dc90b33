// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/load.h"

#include <cstring>

#include "backend/cuda/kernels/load.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

/// So many steps may be under way before the host waits for the first of them.
constexpr std::size_t n_slots = 8;

bool same(const RandomKey& a, const RandomKey& b) {
  return a.seed == b.seed && a.stream == b.stream && a.step == b.step;
}

}  // namespace

void Loader::finish(CudaDevice& device, const Shape& shape) {
  device_ = &device;
  shape_ = shape;
  step_ = allocate_zeros(step_bytes(shape.n), "a batch's labels", device.stream());
  for (std::size_t i = 0; i < n_slots; ++i) slots_.push_back({allocate_pinned(step_bytes(shape.n)), {}, new_event()});
}

void Loader::load(const Batch& batch, const RandomKey& key, Storage storage, void* input) {
  check_batch(batch);
  Slot& slot = next_slot();
  sent_.key = key;
  sent_.transform = batch.transform;
  sent_.examples = static_cast<std::int32_t>(batch.examples.size());
  place_images(batch, slot);
  send(slot, step_bytes(sent_.examples));
  kernels::load(device_->pass_stream(), storage, input, shape_.n, shape_.h, reinterpret_cast<const Step*>(step_.get()));
}

void Loader::send_key(const RandomKey& key) {
  if (same(key, sent_.key)) return;
  sent_.key = key;
  send(next_slot(), sizeof(Step));
}

void Loader::send_update(const UpdateFactors& factors) {
  if (factors == sent_.update) return;
  sent_.update = factors;
  send(next_slot(), sizeof(Step));
}

void Loader::check_batch(const Batch& batch) const {
  const int size = batch.transform.image_size;
  require(batch.examples.size() <= static_cast<std::size_t>(shape_.n),
          "A batch of {} images doesn't fit a model made for batches of {}.", batch.examples.size(), shape_.n);
  require(shape_.c == Example::channels && shape_.h == size && shape_.w == size,
          "Images of {}x{}x{} don't fit a model made for {}x{}x{}. Load the data and create the network with the "
          "same image size.",
          Example::channels, size, size, shape_.c, shape_.h, shape_.w);
}

/// The slot that was used longest ago. Waits until its copy is done, which it is unless the host is far ahead.
Loader::Slot& Loader::next_slot() {
  Slot& slot = slots_[n_sent_++ % n_slots];
  check(cudaEventSynchronize(slot.copied.get()), "waiting for a copy");
  return slot;
}

void Loader::place_images(const Batch& batch, Slot& slot) {
  const ImageCopy* copy = batch.storage ? &device_->images().copy_of(batch.storage, device_->pass_stream()) : nullptr;
  StepExample* to = reinterpret_cast<Step*>(slot.step.get())->example();
  std::size_t n_copied = 0;  // of those that are not in the GPU's memory
  for (const Example& example : batch.examples) {
    const std::uint8_t* pixels = copy ? copy->find(example.pixels) : nullptr;
    if (!pixels) {
      if (!images_) make_room_for_images();
      std::memcpy(slot.images.get() + n_copied * Example::bytes, example.pixels, Example::bytes);
      pixels = reinterpret_cast<const std::uint8_t*>(images_.get()) + n_copied++ * Example::bytes;
    }
    *to++ = {pixels, example.label, example.counted ? 1 : 0, example.own};
  }
  if (n_copied > 0)
    check(cudaMemcpyAsync(images_.get(), slot.images.get(), n_copied * Example::bytes, cudaMemcpyHostToDevice,
                          device_->pass_stream()),
          "copying images to it");
}

void Loader::make_room_for_images() {
  const std::size_t bytes = static_cast<std::size_t>(shape_.n) * Example::bytes;
  images_ = allocate_zeros(bytes, "a batch's images", device_->pass_stream());
  for (Slot& slot : slots_) slot.images = allocate_pinned(bytes);
}

void Loader::send(Slot& slot, std::size_t bytes) {
  std::memcpy(slot.step.get(), &sent_, sizeof sent_);
  check(cudaMemcpyAsync(step_.get(), slot.step.get(), bytes, cudaMemcpyHostToDevice, device_->pass_stream()),
        "copying labels to it");
  check(cudaEventRecord(slot.copied.get(), device_->pass_stream()), "copying labels to it");
}

}  // namespace odori::cuda
