// SPDX-License-Identifier: Apache-2.0
#include "backend/gpus.h"

#include <dlfcn.h>

#include <cstdlib>

#include "backend/gpu_plugin.h"
#include "errors/error.h"
#include "program/program.h"

namespace odori {
namespace {

const char* plugin_asked_for() {
  const char* variable = std::getenv("ODORI_GPU_PLUGIN");
  return variable && *variable ? variable : nullptr;
}

/// The plug-in, or why there is none.
struct Loaded {
  const GpuPlugin* plugin = nullptr;
  std::string why_not;
};

Loaded load() {
  if (!built_for_gpus())
    return {.why_not = in_language(
                Text{"this build has the CPU backend alone; build it where the CUDA toolkit, cuDNN and NCCL are found.",
                     "このビルドには CPU バックエンドしかありません。CUDA Toolkit、cuDNN、NCCL "
                     "のある環境でビルドしてください。"})};
  if (!has_gpu_driver() && !plugin_asked_for())
    return {.why_not = in_language(
                Text{"no NVIDIA driver was found on this machine.", "このマシンに NVIDIA ドライバが見つかりません。"})};
  // Never closed: objects made there may live as long as the program.
  void* const file = dlopen(gpu_plugin_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (const void* plugin = file ? dlsym(file, "odori_gpu_plugin") : nullptr)
    return {.plugin = static_cast<const GpuPlugin*>(plugin)};
  return {.why_not = in_language(
              {"the CUDA backend can't be loaded: {}. Load the modules that the kit was built with, or "
               "build it again with ./odori setup.",
               "CUDA バックエンドを読み込めません: {}。キットのビルドに使ったモジュールをロードするか、./odori setup "
               "でビルドし直してください。"},
              dlerror())};
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

std::filesystem::path gpu_plugin_file() {
  if (const char* asked_for = plugin_asked_for()) return asked_for;
#ifdef ODORI_GPU_PLUGIN_NAME
  return library_file().replace_filename(ODORI_GPU_PLUGIN_NAME);
#else
  return {};
#endif
}

const GpuPlugin* gpu_plugin() { return loaded().plugin; }

bool built_for_gpus() { return !gpu_plugin_file().empty(); }

bool has_gpu_driver() {
  static const bool found =
      dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;  // as CUDA's runtime looks for it
  return found;
}

int gpu_count() { return gpu_plugin() ? gpu_plugin()->gpu_count() : 0; }

std::string why_no_gpu() { return gpu_plugin() ? gpu_plugin()->why_no_gpu() : loaded().why_not; }

std::unique_ptr<Device> make_gpu(int id, const DevicePoolOptions& options) {
  require(gpu_plugin() != nullptr, {"There is no GPU {}: {}", "GPU {} はありません: {}"}, id, why_no_gpu());
  return gpu_plugin()->make_gpu(id, options);
}

}  // namespace odori
