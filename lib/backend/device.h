// SPDX-License-Identifier: Apache-2.0
// THE BACKEND INTERFACE, first half: devices, their memory, and arithmetic on flat vectors. The second half is graph.h.
//
// A device is a GPU, or a CPU device: a worker with a fixed number of threads. Models, optimizers and updaters use
// devices through these two headers only. backend/cpu and backend/cuda implement them, with the same file names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "backend/adam_factors.h"
#include "backend/buffer.h"
#include "backend/device_group.h"
#include "backend/momentum_factors.h"
#include "backend/precision.h"
#include "numbers/range.h"

namespace odori {

class Graph;
struct ModelMemory;
struct AlgorithmTable;

enum class DeviceKind { cpu, cuda };

/// The hardware that a device uses.
struct Hardware {
  std::uint64_t id = 0;       // equal for all devices on one GPU, in all processes; below 2^53; 0: a CPU device
  bool may_be_shared = true;  // --share-devices was given, or it is not a GPU
};

/// A point in the work queued on a stream (Device::record_event()).
using DeviceEvent = std::shared_ptr<void>;

class Device {
 public:
  virtual ~Device() = default;

  // ---- Identity
  virtual DeviceKind kind() const = 0;
  /// The device's number on its node: 0, 1, ...
  virtual int id() const = 0;
  /// Returns "CPU device 1 (1 thread)" or "GPU 0 (NVIDIA H200)".
  virtual std::string description() const = 0;

  /// Binds the calling thread to this device (CPU: number of threads; CUDA: cudaSetDevice). Only one thread at a time
  /// may use a device.
  virtual void bind_thread() = 0;
  /// Returns when all work queued on the device is done.
  virtual void synchronize() = 0;

  // ---- Memory
  /// Allocates n floats, all zero.
  virtual Buffer allocate(std::size_t n) = 0;
  virtual void write(Buffer& to, std::size_t offset, std::span<const float> from) = 0;
  virtual void read(const Buffer& from, std::size_t offset, std::span<float> to) = 0;

  // ---- Arithmetic on a range of flat vectors in this device's memory
  /// y += a * x
  virtual void axpy(float a, const Buffer& x, Buffer& y, Range range) = 0;
  /// y *= a
  virtual void scale(float a, Buffer& y, Range range) = 0;
  /// SGD with momentum (momentum_factors.h). v may cover a shard of the parameters: its first element belongs to
  /// p[v_begin]. Whether g includes the weight decay afterwards is unspecified.
  virtual void momentum_sgd(Buffer& p, const Buffer& g, Buffer& v, const MomentumGroups& groups, Range range,
                            std::size_t v_begin = 0) = 0;
  /// Adam (adam_factors.h). m and v may cover a shard of the parameters: their first element belongs to p[m_begin].
  virtual void adam(Buffer& p, const Buffer& g, Buffer& m, Buffer& v, const AdamFactors& factors, Range range,
                    std::size_t m_begin = 0) = 0;
  /// slow = keep * slow + (1 - keep) * fast; fast = slow. The average of M. Zhang et al., 2019, "Lookahead optimizer: k
  /// steps forward, 1 step back" (arXiv 1907.08610). With keep 0, slow becomes a copy of fast.
  virtual void look_ahead(Buffer& slow, Buffer& fast, float keep, Range range) = 0;

  /// Divides `range` into pieces and calls `work` on each. On a CPU, pieces fit the cache, and all threads of the
  /// device work, so several passes over a piece read memory once. On a GPU there is one piece.
  virtual void for_pieces(Range range, const std::function<void(Range)>& work) = 0;

  // ---- With other devices
  /// Creates a group of this device, the main one, and others of the same kind (device_group.h). It keeps references to
  /// all of them.
  virtual std::unique_ptr<DeviceGroup> new_group(std::span<Device* const> others) = 0;
  /// Identifies the hardware, so that ranks can find out that they share a GPU.
  virtual Hardware hardware() const = 0;
  /// Allocates n floats of host memory for fast read() and write(): page-locked if the device is a GPU.
  virtual Buffer allocate_host(std::size_t n) = 0;

  // ---- Operations
  /// Creates an empty graph (graph.h) on this device. It keeps references to both arguments.
  virtual std::unique_ptr<Graph> new_graph(ModelMemory& memory, AlgorithmTable& algorithms) = 0;
  /// The precision of its graphs.
  virtual Precision precision() const = 0;

  // ---- Streams: a device runs its work in the order of queueing; a second stream runs other work concurrently
  /// Creates another stream of the same device, for copies, arithmetic and communicators on any thread, but not for
  /// graphs. Null for a CPU device, whose calls return when their operation is complete.
  virtual std::unique_ptr<Device> create_stream() { return nullptr; }
  /// Records an event after all work queued so far.
  virtual DeviceEvent record_event() { return {}; }
  /// Makes later work wait for the event. Does not block the host.
  virtual void wait_event(const DeviceEvent&) {}
  /// Swaps the elements of x and y.
  virtual void swap(Buffer& x, Buffer& y, Range range) = 0;
};

}  // namespace odori
