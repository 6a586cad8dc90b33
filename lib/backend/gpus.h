// SPDX-License-Identifier: Apache-2.0
// The GPUs of this machine, as the rest of the library sees them: gpus.cpp asks the plug-in of gpu_plugin.h, where
// there is a driver and the build has one.
#pragma once

#include <memory>
#include <string>

#include "backend/device.h"

namespace odori {

struct DevicePoolOptions;

/// Does this build hold the CUDA backend?
bool built_for_gpus();

/// Is an NVIDIA driver installed here? Cheap if there is none.
bool has_gpu_driver();

/// GPUs that this build can use on this machine; 0 also where there is no driver.
int gpu_count();

/// Why gpu_count() is 0, in a sentence that says what to do. Empty where there are GPUs.
std::string why_no_gpu();

/// Device `id` on GPU id, or, where devices share GPUs, id modulo their number. Throws Error if there is no such GPU,
/// or if it can't be used.
std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions& options);

}  // namespace odori
