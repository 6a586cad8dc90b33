// SPDX-License-Identifier: Apache-2.0
// A group of GPU devices of one process: NCCL between different GPUs, kernels between devices on the same GPU.
#pragma once

#include <vector>

#include "backend/cuda/device.h"
#include "backend/cuda/nccl_communicators.h"

namespace odori::cuda {

/// All work is queued on streams, a compute stream per device and an exchange stream per GPU, and ordered by events:
///
///   compute streams:   ... backward |ready|              |wait| update 0 |wait| update 1     |wait| forward ...
///   exchange streams:        |wait| reduce 0 |reduced| reduce 1 |reduced| |wait| send 0 |wait| send 1 |sent|
///
/// So a slice is updated while the next one is reduced. One thread queues everything.
class CudaDeviceGroup : public DeviceGroup {
 public:
  /// `devices`: the main device first. Throws Error if the GPUs cannot be connected.
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
  /// A GPU and the devices on it, of which the first takes part in NCCL's calls. The main device's GPU comes first.
  struct Gpu {
    std::vector<std::size_t> devices;
    Stream exchange;
    Event sent;
  };
  CudaDevice& first_of(const Gpu& gpu) const { return *devices_[gpu.devices.front()]; }
  void reduce_within(const Gpu& gpu, std::span<Buffer* const> buffers, float a, Range range);
  void send_within(const Gpu& gpu, std::span<Buffer* const> buffers, Range range);

  std::vector<CudaDevice*> devices_;
  std::vector<Event> ready_;  // per device: its gradients are computed
  std::vector<Gpu> gpus_;
  std::vector<Event> reduced_;               // per slice, on the main GPU
  Event updated_;                            // on the main GPU
  std::unique_ptr<NcclCommunicators> nccl_;  // between GPUs, if there are several
};

}  // namespace odori::cuda
