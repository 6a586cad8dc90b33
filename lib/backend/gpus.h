// The GPUs of this machine, as the rest of the library sees them: backend/cuda/gpus.cpp in a build with CUDA,
// backend/no_cuda.cpp in one without.
#pragma once

#include <memory>
#include <string>

#include "backend/device.h"

namespace odori {

struct DevicePoolOptions;

/// Does this build hold the CUDA backend?
bool built_for_gpus();

/// GPUs that this build can use on this machine; 0 also where there is no driver.
int gpu_count();

/// Why gpu_count() is 0, in a sentence that says what to do. Empty where there are GPUs.
std::string why_no_gpu();

/// Device `id` on GPU id, or, where devices share GPUs, id modulo their number. Throws Error if there is no such GPU,
/// or if it can't be used.
std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions& options);

}  // namespace odori
