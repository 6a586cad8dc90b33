// SPDX-License-Identifier: Apache-2.0
// Communication between the devices of one process that train replicas of one model: gradients are reduced to the main
// device, parameters are broadcast.
//
//   device i, on its own thread:   forward, backward, arrive(i)                        (all devices at once)
//   for each slice s:              reduce(gradients, 1 / n, s)
//   for each slice s:              await(s), update slice s on main, send(parameters, s)
//
// On GPUs these calls only queue work, and none blocks the host: one slice is sent while another is reduced or updated.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backend/buffer.h"

namespace odori {

/// Created by Device::new_group() of the main device. Devices are numbered 0, 1, ..., the main one first. `buffers`:
/// one flat vector per device, in this order, all of the same size.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;

  /// One line about how the devices are connected. Empty for CPU devices, or a single GPU.
  virtual std::string description() const = 0;

  /// Number of slices of a flat vector of n floats; slice() in numbers/range.h gives their boundaries.
  virtual std::size_t slices(std::size_t n) const = 0;
  /// True (CPU devices): the thread of device i handles slice i, in shared memory; each step starts after the previous
  /// one has ended on all threads. False (GPUs): one thread queues all slices, one after another.
  virtual bool each_thread_exchanges() const = 0;

  /// Call it on device i's thread after backward was queued there: later calls here are ordered after its gradients.
  virtual void arrive(std::size_t i) = 0;
  /// Writes a * (sum of all buffers) to the main device's buffer.
  virtual void reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) = 0;
  /// Makes later work of the main device wait for reduce() of this slice.
  virtual void await(std::size_t slice) = 0;
  /// Copies the main device's buffer to all others, after all work queued on the main device so far. Work queued on the
  /// others after send() of the last slice waits for all slices.
  virtual void send(std::span<Buffer* const> buffers, std::size_t slice) = 0;
};

}  // namespace odori
