#include "backend/device_pool.h"

#include <thread>

#include "backend/cpu/device.h"
#include "core/error.h"
#include "trace/trace.h"

namespace odori {
namespace {

std::unique_ptr<Device> make_device(DeviceKind kind, int id, const DevicePoolOptions& options) {
  require(kind == DeviceKind::cpu, "There is no GPU {}: this build has the CPU backend alone.", id);
  return std::make_unique<cpu::CpuDevice>(id, options.threads_per_device);
}

DeviceKind resolve(DeviceRequest request) {
  switch (request) {
    case DeviceRequest::cpu:
      return DeviceKind::cpu;
    case DeviceRequest::automatic:
      return gpu_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu;
    case DeviceRequest::cuda:
      break;
  }
  require(gpu_count() > 0,
          "--device cuda needs a GPU, but none was found: this build has the CPU backend alone. Use --device cpu, or "
          "--device auto.");
  return DeviceKind::cuda;
}

}  // namespace

// CUDA's place: a build with backend/cuda counts GPUs here, and makes devices of them in make_device().
int gpu_count() { return 0; }

DevicePool::DevicePool(const DevicePoolOptions& options) : options_(options), kind_(resolve(options.request)) {}

Device& DevicePool::device(int id) {
  require(id >= 0, "There is no device {}: devices have the numbers 0, 1, ...", id);
  if (kind_ == DeviceKind::cuda && !options_.share_devices)
    require(id < gpu_count(),
            "There is no GPU {}: this machine has {}, numbered from 0. Ask for fewer, or let several devices stand on "
            "one GPU with --share_devices.",
            id, gpu_count());
  const auto i = static_cast<std::size_t>(id);
  if (i >= devices_.size()) devices_.resize(i + 1);
  if (!devices_[i]) devices_[i] = make_device(kind_, id, options_);
  return *devices_[i];
}

Device& DevicePool::use(int id) {
  Device& chosen = device(id);
  current_ = id;
  chosen.bind_thread();
  trace::set_device(id);
  trace::instant("use_device");
  return chosen;
}

Device& DevicePool::current() { return current_ < 0 ? use(0) : device(current_); }

std::optional<std::string> DevicePool::warning(int n) const {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = n * options_.threads_per_device;
  if (kind_ != DeviceKind::cpu || cores == 0 || threads <= cores) return {};
  return fmt::format(
      "Warning: {} CPU devices of {} thread(s) share {} cores, so each is slower than it would be alone.", n,
      options_.threads_per_device, cores);
}

}  // namespace odori
