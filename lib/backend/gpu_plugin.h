// SPDX-License-Identifier: Apache-2.0
// The interface between the library and its CUDA backend, a separate shared library (libodori_cuda.so:
// lib/backend/cuda), which is loaded when GPUs are first used, so that training on CPU devices loads none of CUDA's
// libraries. The plug-in links the library; the library knows only this header of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "backend/gpu_optimizations.h"
#include "backend/gpus.h"
#include "backend/nccl_group.h"

namespace odori {

/// All that a plug-in exports, under the name odori_gpu_plugin. gpus.h says what its functions do, and nccl_group.h.
struct GpuPlugin {
  int (*gpu_count)();
  std::string (*why_no_gpu)();
  std::unique_ptr<Device> (*make_gpu)(int id, const DevicePoolOptions& options);
  /// The most bytes that this process has held on the device's GPU at a time, without what CUDA's libraries hold.
  std::size_t (*peak_memory)(const Device& device);
  /// Those that the device uses: as asked for, without what its GPU or driver can't do.
  GpuOptimizations (*optimizations)(const Device& device);
  /// On the device's GPU. Collective over the `size` ranks of the group; `rank` is this one's place among them.
  std::unique_ptr<NcclGroup> (*make_nccl_group)(Device& device, int size, int rank, const NcclGroup::BringId& bring_id);
};
extern "C" const GpuPlugin odori_gpu_plugin;

/// Loads it at the first call. Null where the machine has no driver, so that nothing is loaded, and where it can't be
/// loaded; why_no_gpu() then says why.
const GpuPlugin* gpu_plugin();

/// The plug-in next to the library, or the file that ODORI_GPU_PLUGIN names, such as that of emulated GPUs
/// (lib/backend/emulated), which needs no driver. Empty in a build without CUDA if the variable is not set.
std::filesystem::path gpu_plugin_file();

}  // namespace odori
