// SPDX-License-Identifier: Apache-2.0
// A GPU device: a stream that runs all its work in order, and the handles of libraries.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "backend/cuda/convolution_engine.h"
#include "backend/cuda/cuda_check.h"
#include "backend/cuda/image_store.h"
#include "backend/device.h"
#include "backend/gpu_optimizations.h"

namespace odori::cuda {

class TrainingStep;

class CudaDevice : public Device {
 public:
  struct Options {
    Precision precision;
    std::size_t workspace_limit;  // bytes of workspace per convolution
    bool may_be_shared;
    GpuOptimizations optimizations{};
  };
  /// `ordinal`: CUDA's device number. Devices that share a GPU have different `id`s. Throws Error if the GPU cannot be
  /// used.
  CudaDevice(int id, int ordinal, const Options& options);
  ~CudaDevice() override;

  DeviceKind kind() const override { return DeviceKind::cuda; }
  int id() const override { return id_; }
  std::string description() const override;
  Precision precision() const override { return options_.precision; }
  void bind_thread() override;
  void synchronize() override;

  Buffer allocate(std::size_t n) override;
  void write(Buffer& to, std::size_t offset, std::span<const float> from) override;
  void read(const Buffer& from, std::size_t offset, std::span<float> to) override;

  std::unique_ptr<Device> create_stream() override;
  DeviceEvent record_event() override;
  void wait_event(const DeviceEvent& event) override;

  void axpy(float a, const Buffer& x, Buffer& y, Range range) override;
  void scale(float a, Buffer& y, Range range) override;
  void swap(Buffer& x, Buffer& y, Range range) override;
  void momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                    std::size_t v_begin) override;
  void adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range range,
            std::size_t m_begin) override;
  void look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) override;
  void for_pieces(Range range, const std::function<void(Range)>& work) override { work(range); }

  std::unique_ptr<DeviceGroup> new_group(std::span<Device* const> others) override;
  Hardware hardware() const override;
  Buffer allocate_host(std::size_t n) override;
  std::unique_ptr<Graph> new_graph(ModelMemory& memory, AlgorithmTable& algorithms) override;

  // ---- Internal to this backend
  int ordinal() const { return ordinal_; }
  const std::string& gpu_name() const { return name_; }
  /// The stream for work on the model's memory by anything but its graph. First queues deferred passes
  /// (training_step.h).
  cudaStream_t stream() const;
  /// The same stream without that: for a graph's passes, and for work that does not use the model's memory.
  cudaStream_t pass_stream() const { return stream_.get(); }
  /// Queues deferred passes.
  void flush() const;
  void add_step(TrainingStep& step) { steps_.push_back(&step); }
  void remove_step(const TrainingStep& step) { std::erase(steps_, &step); }
  cublasHandle_t blas() const { return blas_.get(); }
  ConvolutionEngine& convolutions() { return *convolutions_; }
  ImageStore& images() { return images_; }
  const GpuOptimizations& optimizations() const { return options_.optimizations; }
  bool has(GpuOptimization one) const { return options_.optimizations.has(one); }
  std::size_t workspace_limit() const { return options_.workspace_limit; }

 private:
  /// Creates a second stream of the same GPU.
  CudaDevice(int id, int ordinal, const Options& options, std::string name);

  int id_, ordinal_;
  Options options_;
  std::string name_;
  Stream stream_;
  std::vector<TrainingStep*> steps_;  // of this device's graphs
  // For graphs; a second stream has none of these.
  DeviceMemory blas_workspace_;
  Blas blas_;
  std::unique_ptr<ConvolutionEngine> convolutions_;
  ImageStore images_;
};

}  // namespace odori::cuda
