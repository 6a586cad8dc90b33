// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "backend/cuda/device_group.h"
#include "backend/cuda/graph.h"
#include "backend/cuda/kernels/launch.h"
#include "backend/cuda/kernels/momentum_sgd.h"
#include "backend/cuda/kernels/vector.h"
#include "backend/cuda/training_step.h"
#include "errors/error.h"

namespace odori::cuda {
namespace {

/// What NVIDIA recommends for Hopper, and enough for the others. cuBLAS's own would grow in the middle of a capture,
/// and differ from run to run.
constexpr std::size_t blas_workspace_bytes = std::size_t{32} << 20;

int select(int ordinal) {
  check(cudaSetDevice(ordinal), "choosing it");
  return ordinal;
}

cudaDeviceProp properties_of(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "asking what it is");
  return properties;
}

/// Without what this GPU or its driver cannot do.
CudaDevice::Options possible(CudaDevice::Options options, int ordinal) {
  constexpr int captures_it = 12030;  // CUDA 12.3, in which captured graphs keep it
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "asking what it is");
  if (properties_of(ordinal).major < 9 || driver < captures_it || CUDART_VERSION < captures_it ||
      !kernels::kernels_wait())
    options.optimizations = options.optimizations.without(GpuOptimization::dependent_launch);
  return options;
}

Blas new_blas(cudaStream_t stream, void* workspace) {
  cublasHandle_t raw = nullptr;
  check(cublasCreate(&raw), "starting cuBLAS");
  Blas blas(raw);
  check(cublasSetStream(raw, stream), "starting cuBLAS");  // before the workspace, which it would reset
  check(cublasSetWorkspace(raw, workspace, blas_workspace_bytes), "starting cuBLAS");
  // Sums of bf16 products are fp32 in all of their parts.
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check(cublasSetMathMode(raw, mode), "starting cuBLAS");
  return blas;
}

}  // namespace

CudaDevice::CudaDevice(int id, int ordinal, const Options& options)
    : id_(id),
      ordinal_(select(ordinal)),
      options_(possible(options, ordinal)),
      name_(properties_of(ordinal).name),
      stream_(new_stream()),
      blas_workspace_(allocate_zeros(blas_workspace_bytes, "matrix products", stream())),
      blas_(new_blas(stream(), blas_workspace_.get())),
      convolutions_(new_convolution_engine(stream())) {
  CudaDevice::bind_thread();
  // The first kernel shows whether this build holds code for this GPU.
  kernels::scale(stream(), 1, reinterpret_cast<float*>(blas_workspace_.get()), 1);
  synchronize();
}

CudaDevice::CudaDevice(int id, int ordinal, const Options& options, std::string name)
    : id_(id), ordinal_(select(ordinal)), options_(options), name_(std::move(name)), stream_(new_stream()) {}

CudaDevice::~CudaDevice() {
  // What follows is destroyed on this GPU, after all of its work.
  cudaSetDevice(ordinal_);
  cudaStreamSynchronize(pass_stream());
}

std::string CudaDevice::description() const {
  return fmt::format("GPU {} ({}){}", ordinal_, name_, id_ == ordinal_ ? "" : fmt::format(" as device {}", id_));
}

void CudaDevice::bind_thread() {
  select(ordinal_);
  kernels::set_launches_dependent(has(GpuOptimization::dependent_launch));
}

cudaStream_t CudaDevice::stream() const {
  for (TrainingStep* const step : steps_) step->settle();
  return pass_stream();
}

void CudaDevice::flush() const {
  for (TrainingStep* const step : steps_) step->flush();
}

void CudaDevice::synchronize() {
  bind_thread();
  flush();
  check(cudaStreamSynchronize(pass_stream()), "finishing what was asked of it");
}

// ---- Memory

Buffer CudaDevice::allocate(std::size_t n) {
  bind_thread();
  DeviceMemory memory = allocate_zeros(n * sizeof(float), "the model's parameters", stream());
  return {reinterpret_cast<float*>(memory.release()), n,
          [](float* data) noexcept { FreeDevice{}(reinterpret_cast<std::byte*>(data)); }};
}

Buffer CudaDevice::allocate_host(std::size_t n) {
  bind_thread();
  return {reinterpret_cast<float*>(allocate_pinned(n * sizeof(float)).release()), n,
          [](float* data) noexcept { FreePinned{}(reinterpret_cast<std::byte*>(data)); }};
}

void CudaDevice::write(Buffer& to, std::size_t offset, std::span<const float> from) {
  bind_thread();
  check(cudaMemcpyAsync(to.data() + offset, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream()),
        "copying to it");
  check(cudaStreamSynchronize(stream()), "copying to it");
}

void CudaDevice::read(const Buffer& from, std::size_t offset, std::span<float> to) {
  bind_thread();
  check(cudaMemcpyAsync(to.data(), from.data() + offset, to.size_bytes(), cudaMemcpyDeviceToHost, stream()),
        "copying from it");
  check(cudaStreamSynchronize(stream()), "copying from it");
}

// ---- Two things at a time

std::unique_ptr<Device> CudaDevice::create_stream() {
  return std::unique_ptr<Device>(new CudaDevice(id_, ordinal_, options_, name_));
}

DeviceEvent CudaDevice::record_event() {
  bind_thread();
  Event event = new_event();
  check(cudaEventRecord(event.get(), stream()), "ordering its work");
  return {event.release(), Release<cudaEventDestroy>{}};
}

void CudaDevice::wait_event(const DeviceEvent& event) {
  bind_thread();
  check(cudaStreamWaitEvent(stream(), static_cast<cudaEvent_t>(event.get())), "ordering its work");
}

// ---- Arithmetic

void CudaDevice::axpy(float a, const Buffer& x, Buffer& y, Range range) {
  bind_thread();
  for (TrainingStep* const step : steps_)
    if (step->add_decay(a, x, y, range)) return;
  kernels::axpy(stream(), a, x.data() + range.begin, y.data() + range.begin, range.size());
}

void CudaDevice::scale(float a, Buffer& y, Range range) {
  bind_thread();
  kernels::scale(stream(), a, y.data() + range.begin, range.size());
}

void CudaDevice::swap(Buffer& x, Buffer& y, Range range) {
  bind_thread();
  kernels::swap(stream(), x.data() + range.begin, y.data() + range.begin, range.size());
}

void CudaDevice::momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                              std::size_t v_begin) {
  bind_thread();
  for (TrainingStep* const step : steps_)
    if (step->momentum_sgd(p, g, v, groups, range, v_begin)) return;
  kernels::momentum_sgd(stream(), {p.data() + range.begin, v.data() + (range.begin - v_begin), g.data() + range.begin},
                        groups, range);
}

void CudaDevice::adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range range,
                      std::size_t m_begin) {
  bind_thread();
  const std::size_t at = range.begin - m_begin;
  kernels::adam(stream(), p.data() + range.begin, g.data() + range.begin, m.data() + at, v.data() + at, factors,
                range.size());
}

void CudaDevice::look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) {
  bind_thread();
  const bool to_model = std::ranges::any_of(steps_, [&](TrainingStep* step) { return step->owns(slow); });
  for (TrainingStep* const step : steps_)
    if (!to_model && step->look_ahead(slow, fast, keep, range)) return;
  kernels::look_ahead(stream(), slow.data() + range.begin, fast.data() + range.begin, nullptr, keep, range.size());
}

// ---- Parts

std::unique_ptr<DeviceGroup> CudaDevice::new_group(std::span<Device* const> others) {
  std::vector<CudaDevice*> devices{this};
  for (Device* other : others) {
    require(other->kind() == DeviceKind::cuda, "A group of devices is of one kind, but has {} and {}.", description(),
            other->description());
    devices.push_back(static_cast<CudaDevice*>(other));
  }
  return std::make_unique<CudaDeviceGroup>(std::move(devices));
}

/// Of its UUID (FNV-1a, G. Fowler, L. Noll and K.-P. Vo), which names it in every process, whatever
/// CUDA_VISIBLE_DEVICES says there.
Hardware CudaDevice::hardware() const {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char byte : properties_of(ordinal_).uuid.bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ull;
  return {(hash >> 11) | 1, options_.may_be_shared};
}

std::unique_ptr<Graph> CudaDevice::new_graph(ModelMemory& memory, AlgorithmTable& algorithms) {
  require(blas_ != nullptr, "A second stream of {} makes no graphs: use the device itself.", description());
  bind_thread();
  return std::make_unique<CudaGraph>(*this, memory, algorithms);
}

}  // namespace odori::cuda
