// SPDX-License-Identifier: Apache-2.0
// CPU devices of one process, in shared memory: each device's thread handles one slice.
#pragma once

#include <vector>

#include "backend/device.h"

namespace odori::cpu {

class CpuDeviceGroup : public DeviceGroup {
 public:
  explicit CpuDeviceGroup(std::vector<Device*> devices) : devices_(std::move(devices)) {}

  std::string description() const override { return {}; }
  std::size_t slices(std::size_t) const override { return devices_.size(); }
  bool each_thread_exchanges() const override { return true; }

  void arrive(std::size_t i) override { devices_[i]->synchronize(); }
  void reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) override;
  void await(std::size_t) override {}  // reduce() returns when it is done
  void send(std::span<Buffer* const> buffers, std::size_t slice) override;

 private:
  std::vector<Device*> devices_;
};

}  // namespace odori::cpu
