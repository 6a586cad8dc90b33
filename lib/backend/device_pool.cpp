// SPDX-License-Identifier: Apache-2.0
#include "backend/device_pool.h"

#include <fmt/ranges.h>

#include "backend/cpu/device.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "threads/cores.h"

namespace odori {
namespace {

DeviceKind resolve(const DevicePoolOptions& options) {
  const bool gpus =
      options.request == DeviceRequest::cuda || (options.request == DeviceRequest::automatic && gpu_count() > 0);
  if (gpus) {
    require(gpu_count() > 0,
            {"--device cuda needs a GPU, but none was found: {} Or use --device cpu.",
             "--device cuda には GPU が必要ですが、見つかりません: {}または --device cpu を使ってください。"},
            why_no_gpu());
    return DeviceKind::cuda;
  }
  const Precision precision = options.precision.value_or(Precision::fp32);
  const std::string why_not = options.request == DeviceRequest::cpu ? in_language(Text{".", "。"})
                                                                    : in_language(Text{": ", ": "}) + why_no_gpu();
  if (precision == Precision::tf32)
    throw UsageError(in_language({"--precision tf32 needs a GPU, but this runs on CPU devices{}",
                                  "--precision tf32 には GPU が必要ですが、CPU デバイスで実行しています{}"},
                                 why_not));
  if (precision == Precision::bf16 && !cpu_has_bf16())
    throw UsageError(in_language(
        {"--precision bf16 needs a GPU, or a processor with AMX (amx_bf16 in /proc/cpuinfo) that oneDNN may "
         "use. This runs on CPU devices{} Leave the flag out to train in fp32.",
         "--precision bf16 には、GPU か、oneDNN が使える AMX（/proc/cpuinfo の amx_bf16）を持つプロセッサが必要"
         "ですが、CPU デバイスで実行しています{}フラグを外すと fp32 で学習します。"},
        why_not));
  return DeviceKind::cpu;
}

}  // namespace

DevicePool::DevicePool(const DevicePoolOptions& options) : options_(options), kind_(resolve(options)) {}

Device& DevicePool::device(int id) {
  require(id >= 0, "There is no device {}: devices have the numbers 0, 1, ...", id);
  if (kind_ == DeviceKind::cuda && !options_.share_devices)
    require(id < gpu_count(),
            {"There is no GPU {}: this machine has {}, numbered from 0. Ask for fewer, or let several devices stand on "
             "one GPU with --share-devices.",
             "GPU {} はありません。このマシンの GPU は {} 台で、番号は 0 からです。デバイスを減らすか、--share-devices "
             "で 1 台の"
             "GPU を共有してください。"},
            id, gpu_count());
  const auto i = static_cast<std::size_t>(id);
  if (i >= devices_.size()) devices_.resize(i + 1);
  if (!devices_[i]) {
    if (kind_ == DeviceKind::cuda)
      devices_[i] = make_gpu(id, options_);
    else
      devices_[i] = std::make_unique<cpu::CpuDevice>(id, options_.threads_per_device,
                                                     options_.precision.value_or(Precision::fp32));
  }
  return *devices_[i];
}

Device& DevicePool::use(int id) {
  observe::on_use_device(id);
  Device& chosen = device(id);
  current_ = id;
  chosen.bind_thread();
  trace::set_device(id);
  trace::instant("use_device");
  return chosen;
}

Device& DevicePool::current() { return current_ < 0 ? use(0) : device(current_); }

std::optional<std::string> DevicePool::warning(int n) const {
  if (kind_ == DeviceKind::cuda) {
    if (n <= gpu_count() || !options_.share_devices) return {};
    return in_language(
        {"Warning: {} devices share {} GPU{} (--share-devices), so each is slower than it would be alone: "
         "a speedup measured here is INCONCLUSIVE.",
         "警告: {} デバイスが {} 台の GPU を共有する（--share-devices）ため、単独のときより遅くなります。ここで"
         "測った速度向上は INCONCLUSIVE です。"},
        n, gpu_count(), gpu_count() == 1 ? "" : "s");
  }
  std::vector<std::string> lines;
  if (options_.request == DeviceRequest::automatic && built_for_gpus())
    lines.push_back(in_language(Text{"No GPU is used: ", "GPU は使いません: "}) + why_no_gpu());
  const int cores = usable_cores();
  const int threads = n * options_.threads_per_device;
  if (threads > cores)
    lines.push_back(in_language(
        {"Warning: {} CPU devices of {} thread(s) share {} cores, so each is slower than it would be alone.",
         "警告: {} 台の CPU デバイス（各 {} スレッド）が {} コアを共有するため、単独のときより遅くなります。"},
        n, options_.threads_per_device, cores));
  if (lines.empty()) return {};
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace odori
