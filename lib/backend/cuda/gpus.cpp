// SPDX-License-Identifier: Apache-2.0
// The plug-in as the library sees it: gpu_plugin.h.
#include <cstdlib>

#include "backend/cuda/device.h"
#include "backend/cuda/nccl_communicators.h"
#include "backend/device_pool.h"
#include "backend/gpu_plugin.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

struct Found {
  int count = 0;
  cudaError_t error = cudaSuccess;
};
Found find_gpus() {
  Found found;
  found.error = cudaGetDeviceCount(&found.count);
  if (found.error != cudaSuccess) {
    cudaGetLastError();
    found.count = 0;
  }
  return found;
}

/// 13000 -> "13.0"
std::string cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string why_no_driver() {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    return in_language(
        Text{"no NVIDIA driver was found on this machine.", "このマシンに NVIDIA ドライバが見つかりません。"});
  return in_language(
      {"the NVIDIA driver is too old: it goes up to CUDA {}, and this build needs CUDA {}. Install a newer driver, or "
       "build with the older toolkit (-DCUDAToolkit_ROOT=/path).",
       "NVIDIA ドライバが古すぎます。対応しているのは CUDA {} までで、このビルドには CUDA {} "
       "が必要です。新しいドライバを"
       "インストールするか、古い CUDA Toolkit でビルドしてください（-DCUDAToolkit_ROOT=/path）。"},
      cuda_version(driver), cuda_version(runtime));
}

int gpu_count() { return find_gpus().count; }

std::string why_no_gpu() {
  const Found found = find_gpus();
  if (found.count > 0) return "";
  if (found.error == cudaErrorInsufficientDriver) return why_no_driver();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      visible && (found.error == cudaSuccess || found.error == cudaErrorNoDevice))
    return in_language({"CUDA_VISIBLE_DEVICES is \"{}\", which leaves none to this program; unset it, or name GPUs.",
                        "CUDA_VISIBLE_DEVICES が「{}」なので、このプログラムが使える GPU がありません。外すか、GPU "
                        "を指定してください。"},
                       visible);
  if (found.error == cudaSuccess || found.error == cudaErrorNoDevice)
    return in_language(Text{"the NVIDIA driver sees no GPU on this machine; nvidia-smi should list them.",
                            "NVIDIA ドライバから見える GPU がありません。nvidia-smi で確認してください。"});
  return in_language({"CUDA says {} ({}); nvidia-smi shows the driver's state.",
                      "CUDA のエラー: {}（{}）。ドライバの状態は nvidia-smi で確認できます。"},
                     cudaGetErrorString(found.error), cudaGetErrorName(found.error));
}

std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions& options) {
  const int count = gpu_count();
  require(count > 0, {"There is no GPU {}: {}", "GPU {} はありません: {}"}, id, why_no_gpu());
  require(
      id < count || options.share_devices,
      {"There is no GPU {}: this machine has {}, numbered from 0. Ask for fewer, or let several devices stand on "
       "one GPU with --share-devices.",
       "GPU {} はありません。このマシンの GPU は {} 台で、番号は 0 からです。デバイスを減らすか、--share-devices で "
       "1 台の GPU を共有してください。"},
      id, count);
  const CudaDevice::Options device_options{.precision = options.precision.value_or(Precision::tf32),
                                           .workspace_limit = static_cast<std::size_t>(options.workspace_mib) << 20,
                                           .may_be_shared = options.share_devices,
                                           .optimizations = options.optimizations};
  return std::make_unique<CudaDevice>(id, id % count, device_options);
}

std::size_t peak_memory(const Device& device) {
  return peak_memory_of(static_cast<const CudaDevice&>(device).ordinal());
}

GpuOptimizations optimizations(const Device& device) { return static_cast<const CudaDevice&>(device).optimizations(); }

}  // namespace
}  // namespace odori::cuda

namespace odori {

const GpuPlugin odori_gpu_plugin{cuda::gpu_count,   cuda::why_no_gpu,    cuda::make_gpu,
                                 cuda::peak_memory, cuda::optimizations, cuda::make_nccl_group};

}  // namespace odori
