// SPDX-License-Identifier: Apache-2.0
// The interface of the CUDA backend, a plug-in (libodori_cuda.so: lib/backend/cuda) that is loaded when GPUs are first
// used, so that training on CPU devices loads none of CUDA's libraries. The plug-in links the library; the library uses
// only this header of the plug-in.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "backend/gpu_optimizations.h"
#include "backend/gpus.h"
#include "backend/nccl_group.h"

namespace odori {

/// The functions that a plug-in exports as odori_gpu_plugin; gpus.h and nccl_group.h describe them.
struct GpuPlugin {
  int (*gpu_count)();
  std::string (*why_no_gpu)();
  std::unique_ptr<Device> (*make_gpu)(int id, const DevicePoolOptions& options);
  /// Peak bytes that this process has allocated on the device's GPU, without those of CUDA's libraries.
  std::size_t (*peak_memory)(const Device& device);
  /// Optimizations in use: those requested that the GPU and its driver support.
  GpuOptimizations (*optimizations)(const Device& device);
  /// `rank`: of this process in the group of `size` ranks. Collective over the group.
  std::unique_ptr<NcclGroup> (*make_nccl_group)(Device& device, int size, int rank,
                                                const NcclGroup::BroadcastId& broadcast_id);
};
extern "C" const GpuPlugin odori_gpu_plugin;

/// Loads the plug-in at the first call. Returns null if the plug-in cannot be loaded, or the machine has no driver and
/// no plug-in was asked for (ODORI_GPU_PLUGIN);
/// why_no_gpu() returns the reason.
const GpuPlugin* gpu_plugin();

/// Path of the plug-in: the file that ODORI_GPU_PLUGIN names, such as that of emulated GPUs (lib/backend/emulated),
/// which needs no driver; by default next to the library. Empty in a build without CUDA if the variable is not set.
std::filesystem::path gpu_plugin_file();

}  // namespace odori
