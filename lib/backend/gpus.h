// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, by the plug-in of gpu_plugin.h.
#pragma once

#include <memory>
#include <string>

#include "backend/device.h"

namespace odori {

struct DevicePoolOptions;

/// True if this build contains the CUDA backend.
bool built_for_gpus();

/// True if an NVIDIA driver is installed. Cheap if there is none.
bool has_gpu_driver();

/// Number of GPUs that this build can use on this machine.
int gpu_count();

/// A sentence about why gpu_count() is 0 and what to do. Empty if there are GPUs.
std::string why_no_gpu();

/// Creates device `id` on GPU `id`; with share_devices, on GPU `id` modulo the number of GPUs. Throws Error if the GPU
/// does not exist or cannot be used.
std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions& options);

}  // namespace odori
