// SPDX-License-Identifier: Apache-2.0
// GPUs of one process: NCCL between distinct ones, kernels between devices that share one.
#pragma once

#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/nccl_communicators.h"

namespace odori::cuda {

/// Everything is queued on streams, one a device for computing and one a GPU for the exchange, ordered by events:
///
///   compute streams:   ... backward |ready|              |wait| update 0 |wait| update 1     |wait| forward ...
///   exchange streams:        |wait| reduce 0 |reduced| reduce 1 |reduced| |wait| send 0 |wait| send 1 |sent|
///
/// so that a slice is updated while the next one is on its way. One thread queues all of it.
class CudaDeviceGroup : public DeviceGroup {
 public:
  /// The main device first. Throws Error if the GPUs can't be connected.
  explicit CudaDeviceGroup(std::vector<CudaDevice*> devices);
  ~CudaDeviceGroup() override;

  std::string description() const override;
  std::size_t slices(std::size_t n) const override;
  bool each_thread_exchanges() const override { return false; }

  void arrive(std::size_t i) override;
  void reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) override;
  void await(std::size_t slice) override;
  void send(std::span<Buffer* const> buffers, std::size_t slice) override;

 private:
  /// One GPU. The first of its devices represents it; the main device's GPU comes first.
  struct Gpu {
    std::vector<std::size_t> devices;
    Stream exchange;
    Event sent;
  };
  CudaDevice& first_of(const Gpu& gpu) const { return *devices_[gpu.devices.front()]; }
  void reduce_within(const Gpu& gpu, std::span<Buffer* const> buffers, float a, Range range);
  void send_within(const Gpu& gpu, std::span<Buffer* const> buffers, Range range);

  std::vector<CudaDevice*> devices_;
  std::vector<Event> ready_;  // one a device: it has its gradients
  std::vector<Gpu> gpus_;
  std::vector<Event> reduced_;               // on the main GPU, one a slice
  Event updated_;                            // on the main GPU
  std::unique_ptr<NcclCommunicators> nccl_;  // between GPUs, where there are several
};

}  // namespace odori::cuda
