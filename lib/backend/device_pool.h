// SPDX-License-Identifier: Apache-2.0
// The devices of this process, by number; one of them is current.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/gpu_optimizations.h"
#include "backend/gpus.h"

namespace odori {

/// What --device asks for: CPU devices, GPUs, or GPUs if there are any.
enum class DeviceRequest { automatic, cpu, cuda };

struct DevicePoolOptions {
  DeviceRequest request = DeviceRequest::automatic;
  int threads_per_device = 1;          // CPU devices only
  bool share_devices = false;          // let several devices use one GPU
  std::optional<Precision> precision;  // without it: tf32 on GPUs, fp32 on CPU devices
  int workspace_mib = 2048;  // GPUs: memory that a convolution may take in addition to its tensors, in 2^20 bytes
  GpuOptimizations optimizations{};  // GPUs only
};

/// Device i is made when it is first asked for. There is any number of CPU devices, and as many GPUs as the machine
/// has. Declare the pool before models and optimizers: it has to outlive whatever uses its devices.
class DevicePool {
 public:
  explicit DevicePool(const DevicePoolOptions& options);

  /// Throws Error if there is no such device, naming those that there are.
  Device& device(int id);
  /// Makes device `id` the current one, where models and optimizers are set up next, and binds the calling thread to
  /// it.
  Device& use(int id);
  /// The current device. If use() was never called, calls use(0).
  Device& current();
  DeviceKind kind() const { return kind_; }
  /// A warning if no GPU is used although this build could use one, or if the machine has too few cores for n CPU
  /// devices or, with share_devices, fewer than n GPUs.
  std::optional<std::string> warning(int n) const;

 private:
  DevicePoolOptions options_;
  DeviceKind kind_;
  std::vector<std::unique_ptr<Device>> devices_;
  int current_ = -1;
};

}  // namespace odori
