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

/// The value of --device: CPU devices, GPUs, or GPUs if there are any.
enum class DeviceRequest { automatic, cpu, cuda };

struct DevicePoolOptions {
  DeviceRequest request = DeviceRequest::automatic;
  int threads_per_device = 1;          // CPU devices only
  bool share_devices = false;          // several devices may use one GPU
  std::optional<Precision> precision;  // default: tf32 on GPUs, fp32 on CPU devices
  int workspace_mib = 2048;            // GPUs only: limit of a convolution's workspace, in 2^20 bytes
  GpuOptimizations optimizations{};    // GPUs only
};

/// Creates device i at its first use. The number of CPU devices is not limited; the number of GPUs is the machine's.
/// The pool must outlive everything that uses its devices, so declare it before models and optimizers.
class DevicePool {
 public:
  explicit DevicePool(const DevicePoolOptions& options);

  /// Returns device `id`. Throws Error, which lists the devices, if it does not exist.
  Device& device(int id);
  /// Makes device `id` current and binds the calling thread to it. Models and optimizers are then set up there.
  Device& use(int id);
  /// The current device. If use() was never called, calls use(0).
  Device& current();
  DeviceKind kind() const { return kind_; }
  /// Returns a warning if no GPU is used although this build supports GPUs, if there are too few cores for n CPU
  /// devices or, with share_devices, fewer than n GPUs.
  std::optional<std::string> warning(int n) const;

 private:
  DevicePoolOptions options_;
  DeviceKind kind_;
  std::vector<std::unique_ptr<Device>> devices_;
  int current_ = -1;
};

}  // namespace odori
