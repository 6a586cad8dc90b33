// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device_group.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <map>

#include "backend/cuda/kernels/launch.h"
#include "backend/cuda/kernels/vector.h"

namespace odori::cuda {
namespace {

/// As few calls as hide most of the update behind the exchange: each of NCCL's takes some 10 us to get up to speed.
constexpr std::size_t most_slices = 4, least_bytes_of_slice = std::size_t{4} << 20;

/// Kernels, streams and events are of the calling thread's current GPU: another one, for a while.
class OnGpu {
 public:
  OnGpu(CudaDevice& device, CudaDevice& otherwise) : otherwise_(otherwise) { device.bind_thread(); }
  ~OnGpu() {
    static_cast<void>(cudaSetDevice(otherwise_.ordinal()));
    kernels::set_launches_dependent(otherwise_.has(GpuOptimization::dependent_launch));
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  CudaDevice& otherwise_;
};

void wait_for(cudaStream_t stream, const Event& event) {
  check(cudaStreamWaitEvent(stream, event.get()), "ordering the devices' work");
}

void record(const Event& event, cudaStream_t stream) {
  check(cudaEventRecord(event.get(), stream), "ordering the devices' work");
}

/// Its kernels get free processors before those of the computing streams: other GPUs wait for them.
Stream new_urgent_stream() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for priorities");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "making a stream");
  return Stream(stream);
}

/// "by NVLink". Native atomics work over NVLink, and not over PCIe.
const char* link_between(const CudaDevice& a, const CudaDevice& b) {
  int peers = 0, atomics = 0;
  check(cudaDeviceCanAccessPeer(&peers, a.ordinal(), b.ordinal()), "asking how the GPUs are linked");
  if (!peers) return "through host memory, without peer access";
  check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, a.ordinal(), b.ordinal()),
        "asking how the GPUs are linked");
  return atomics ? "by NVLink, with peer access" : "by PCIe, with peer access";
}

}  // namespace

CudaDeviceGroup::CudaDeviceGroup(std::vector<CudaDevice*> devices) : devices_(std::move(devices)) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const OnGpu gpu(*devices_[i], *devices_.front());
    ready_.push_back(new_event());
    const auto same = std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& known) {
      return first_of(known).ordinal() == devices_[i]->ordinal();
    });
    if (same != gpus_.end())
      same->devices.push_back(i);
    else
      gpus_.push_back({{i}, new_urgent_stream(), new_event()});
  }
  devices_.front()->bind_thread();
  updated_ = new_event();
  for (std::size_t i = 0; i < most_slices; ++i) reduced_.push_back(new_event());
  if (gpus_.size() < 2) return;
  std::vector<int> ordinals;
  for (const Gpu& gpu : gpus_) ordinals.push_back(first_of(gpu).ordinal());
  nccl_ = std::make_unique<NcclCommunicators>(ordinals);
  devices_.front()->bind_thread();
}

CudaDeviceGroup::~CudaDeviceGroup() {
  if (std::uncaught_exceptions() > 0) return;
  for (const Gpu& gpu : gpus_) static_cast<void>(cudaStreamSynchronize(gpu.exchange.get()));
}

std::string CudaDeviceGroup::description() const {
  std::vector<std::string> parts;
  std::map<std::string, std::vector<int>> linked;  // to the main GPU
  for (const Gpu& gpu : gpus_) {
    const CudaDevice &first = first_of(gpu), &main = *devices_.front();
    if (&first != &main) linked[link_between(first, main)].push_back(first.ordinal());
    std::vector<int> ids;
    for (const std::size_t i : gpu.devices) ids.push_back(devices_[i]->id());
    if (ids.size() > 1) parts.push_back(fmt::format("devices {} share GPU {}", fmt::join(ids, ", "), first.ordinal()));
  }
  for (const auto& [link, gpus] : linked)
    parts.push_back(
        fmt::format("GPU {} is linked to GPU {} {}", devices_.front()->ordinal(), fmt::join(gpus, ", "), link));
  return parts.empty() ? "" : fmt::format("Links: {}.", fmt::join(parts, "; "));
}

// Between devices of one GPU nothing is on its way, so that there is nothing to hide.
std::size_t CudaDeviceGroup::slices(std::size_t n) const {
  if (!nccl_) return 1;
  return std::clamp<std::size_t>(n * sizeof(float) / least_bytes_of_slice, 1, most_slices);
}

void CudaDeviceGroup::arrive(std::size_t i) { record(ready_[i], devices_[i]->stream()); }

void CudaDeviceGroup::reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) {
  const std::size_t n = buffers.front()->size();
  const Range range = odori::slice(n, slice, slices(n));
  const cudaStream_t main = gpus_.front().exchange.get();
  devices_.front()->bind_thread();
  for (const Gpu& gpu : gpus_) {
    if (slice == 0)
      for (const std::size_t i : gpu.devices) wait_for(gpu.exchange.get(), ready_[i]);
    reduce_within(gpu, buffers, nccl_ ? 1 : a, range);
  }
  if (nccl_) {
    nccl_->queue("adding up gradients", main, [&](ncclComm_t comm, std::size_t i) {
      float* const data = buffers[gpus_[i].devices.front()]->data() + range.begin;
      return ncclReduce(data, data, range.size(), ncclFloat, ncclSum, 0, comm, gpus_[i].exchange.get());
    });
    if (a != 1) kernels::scale(main, a, buffers.front()->data() + range.begin, range.size());
  }
  record(reduced_[slice], main);
}

void CudaDeviceGroup::reduce_within(const Gpu& gpu, std::span<Buffer* const> buffers, float a, Range range) {
  if (gpu.devices.size() == 1 && a == 1) return;
  const OnGpu on(first_of(gpu), *devices_.front());
  std::vector<const float*> others;
  for (const std::size_t i : std::span(gpu.devices).subspan(1)) others.push_back(buffers[i]->data() + range.begin);
  kernels::add_and_scale(gpu.exchange.get(), a, others.data(), static_cast<int>(others.size()),
                         buffers[gpu.devices.front()]->data() + range.begin, range.size());
}

void CudaDeviceGroup::await(std::size_t slice) { wait_for(devices_.front()->stream(), reduced_[slice]); }

// No device writes its parameters but here, and each exchange stream has waited for what its devices read of them.
void CudaDeviceGroup::send(std::span<Buffer* const> buffers, std::size_t slice) {
  const std::size_t n = buffers.front()->size();
  const Range range = odori::slice(n, slice, slices(n));
  const cudaStream_t main = gpus_.front().exchange.get();
  record(updated_, devices_.front()->stream());
  wait_for(main, updated_);
  if (nccl_)
    nccl_->queue("sending parameters", main, [&](ncclComm_t comm, std::size_t i) {
      float* const data = buffers[gpus_[i].devices.front()]->data() + range.begin;
      return ncclBroadcast(data, data, range.size(), ncclFloat, 0, comm, gpus_[i].exchange.get());
    });
  for (const Gpu& gpu : gpus_) {
    send_within(gpu, buffers, range);
    if (slice + 1 < slices(n)) continue;
    record(gpu.sent, gpu.exchange.get());
    for (const std::size_t i : gpu.devices) wait_for(devices_[i]->stream(), gpu.sent);
  }
}

void CudaDeviceGroup::send_within(const Gpu& gpu, std::span<Buffer* const> buffers, Range range) {
  const float* const from = buffers[gpu.devices.front()]->data() + range.begin;
  for (const std::size_t i : std::span(gpu.devices).subspan(1))
    check(cudaMemcpyAsync(buffers[i]->data() + range.begin, from, range.size() * sizeof(float),
                          cudaMemcpyDeviceToDevice, gpu.exchange.get()),
          "sending parameters");
}

}  // namespace odori::cuda
