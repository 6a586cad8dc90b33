// SPDX-License-Identifier: Apache-2.0
// A CPU device: computes on the calling thread, with a fixed number of OpenMP threads.
#pragma once

#include <memory>

#include "backend/device.h"
#include "backend/graph.h"
#include "backend/precision.h"

namespace odori::cpu {

class CpuDevice : public Device {
 public:
  CpuDevice(int id, int threads, Precision precision);

  DeviceKind kind() const override { return DeviceKind::cpu; }
  int id() const override { return id_; }
  std::string description() const override;
  Precision precision() const override { return precision_; }
  void bind_thread() override;
  void synchronize() override {}  // every call has ended when it returns

  Buffer allocate(std::size_t n) override;
  void write(Buffer& to, std::size_t offset, std::span<const float> from) override;
  void read(const Buffer& from, std::size_t offset, std::span<float> to) override;

  void axpy(float a, const Buffer& x, Buffer& y, Range range) override;
  void scale(float a, Buffer& y, Range range) override;
  void swap(Buffer& x, Buffer& y, Range range) override;
  void momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                    std::size_t v_begin) override;
  void adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range range,
            std::size_t m_begin) override;
  void look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) override;
  void for_pieces(Range range, const std::function<void(Range)>& work) override;

  std::unique_ptr<DeviceGroup> new_group(std::span<Device* const> others) override;
  Hardware hardware() const override { return {}; }
  Buffer allocate_host(std::size_t n) override { return allocate(n); }

  std::unique_ptr<Graph> new_graph(ModelMemory& memory, AlgorithmTable& algorithms) override;

 private:
  int id_, threads_;
  Precision precision_;
};

/// Creates a graph of oneDNN operations (graph.h) or, in a build without oneDNN (-DODORI_ONEDNN=OFF), of the plain
/// loops in ../reference. It computes on the calling thread, with `threads` OpenMP threads.
std::unique_ptr<Graph> new_graph(int threads, Precision precision, ModelMemory& memory, AlgorithmTable& algorithms);

}  // namespace odori::cpu
