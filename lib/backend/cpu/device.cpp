// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/device.h"

#include <omp.h>

#include <algorithm>

#include "backend/cpu/device_group.h"
#include "backend/cpu/host_memory.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/vector.h"
#include "errors/error.h"

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

CpuDevice::CpuDevice(int id, int threads, Precision precision) : id_(id), threads_(threads), precision_(precision) {
  require(threads > 0, "A CPU device needs at least one thread, not {}.", threads);
  require_address_space((id + 1) * threads);  // those before it may not have begun either
}

std::string CpuDevice::description() const {
  return fmt::format("CPU device {} ({} thread{})", id_, threads_, threads_ == 1 ? "" : "s");
}

// OpenMP keeps the number of threads for each calling thread, so that several devices work at once, each with its own.
// oneDNN's threads wait for each other in numbers that it was told: with fewer than these they would wait for ever.
void CpuDevice::bind_thread() {
  static thread_local int proven = 1;
  omp_set_dynamic(0);
  omp_set_num_threads(threads_);
  if (threads_ == 1 || threads_ == proven) return;
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  require(threads == threads_,
          "{} asked OpenMP for {} threads and got {}. An environment variable limits them: unset OMP_THREAD_LIMIT and "
          "OMP_MAX_ACTIVE_LEVELS, or give --threads-per-device {}.",
          description(), threads_, threads, threads);
  proven = threads_;
}

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

void CpuDevice::swap(Buffer& x, Buffer& y, Range range) {
  for_pieces(range, [&](Range r) { std::swap_ranges(x.data() + r.begin, x.data() + r.end, y.data() + r.begin); });
}

void CpuDevice::momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                             std::size_t v_begin) {
  parallel_range(range, [&](Range piece) {
    groups.for_parts(piece, [&](Range r, const MomentumFactors& factors) {
      cpu::momentum_sgd(p.data() + r.begin, g.data() + r.begin, v.data() + (r.begin - v_begin), factors, r.size());
    });
  });
}

void CpuDevice::adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range range,
                     std::size_t m_begin) {
  parallel_range(range, [&](Range r) {
    const std::size_t at = r.begin - m_begin;
    cpu::adam(p.data() + r.begin, g.data() + r.begin, m.data() + at, v.data() + at, factors, r.size());
  });
}

void CpuDevice::look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) {
  parallel_range(range,
                 [&](Range r) { cpu::look_ahead(slow.data() + r.begin, fast.data() + r.begin, keep, r.size()); });
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
  return cpu::new_graph(threads_, precision_, memory, algorithms);
}

}  // namespace odori::cpu
