#include "backend/cpu/device.h"

#include <omp.h>

#include <algorithm>

#include "backend/cpu/device_group.h"
#include "backend/cpu/graph.h"
#include "backend/cpu/host_memory.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/vector.h"
#include "core/error.h"

namespace odori::cpu {
namespace {

/// 64 KB of each vector: three of them fit a core's second cache.
constexpr std::size_t piece = 16384;

/// Calls `work` on the parts of a range, one a thread.
template <typename Work>
void parallel_range(Range range, const Work& work) {
  parallel(range.size(), vector_grain, [&](Range part) {
    work(Range{range.begin + part.begin, range.begin + part.end});
  });
}

}  // namespace

CpuDevice::CpuDevice(int id, int threads) : id_(id), threads_(threads) {
  require(threads > 0, "A CPU device needs at least one thread, not {}.", threads);
}

std::string CpuDevice::description() const {
  return fmt::format("CPU device {} ({} thread{})", id_, threads_, threads_ == 1 ? "" : "s");
}

// OpenMP keeps the number of threads for each calling thread, so that several devices work at once, each with its own.
void CpuDevice::bind_thread() { omp_set_num_threads(threads_); }

Buffer CpuDevice::allocate(std::size_t n) { return allocate_floats(n); }

void CpuDevice::write(Buffer& to, std::size_t offset, std::span<const float> from) {
  std::copy(from.begin(), from.end(), to.data() + offset);
}

void CpuDevice::read(const Buffer& from, std::size_t offset, std::span<float> to) {
  std::copy_n(from.data() + offset, to.size(), to.begin());
}

void CpuDevice::axpy(float a, const Buffer& x, Buffer& y, Range range) {
  parallel_range(range, [&](Range r) { cpu::axpy(a, x.data() + r.begin, y.data() + r.begin, r.size()); });
}

void CpuDevice::scale(float a, Buffer& y, Range range) {
  parallel_range(range, [&](Range r) { cpu::scale(a, y.data() + r.begin, r.size()); });
}

void CpuDevice::momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, float rate, float momentum, Range range) {
  parallel_range(range, [&](Range r) {
    cpu::momentum_sgd(p.data() + r.begin, g.data() + r.begin, v.data() + r.begin, rate, momentum, r.size());
  });
}

void CpuDevice::for_pieces(Range range, const std::function<void(Range)>& work) {
  parallel_range(range, [&](Range part) {
    for (std::size_t begin = part.begin; begin < part.end; begin += piece)
      work({begin, std::min(begin + piece, part.end)});
  });
}

std::unique_ptr<DeviceGroup> CpuDevice::new_group(std::span<Device* const> others) {
  std::vector<Device*> devices{this};
  devices.insert(devices.end(), others.begin(), others.end());
  return std::make_unique<CpuDeviceGroup>(std::move(devices));
}

std::unique_ptr<Graph> CpuDevice::new_graph(ModelMemory& memory, AlgorithmTable& algorithms) {
  bind_thread();  // primitives are made for this number of threads
  return std::make_unique<CpuGraph>(engine_, stream_, threads_, memory, algorithms);
}

}  // namespace odori::cpu
