// SPDX-License-Identifier: Apache-2.0
// Exchange between the devices of one process that train replicas of one model: gradients to the main device,
// parameters back.
//
//   device i, on its own thread:   forward, backward, arrive(i)                        (all devices at once)
//   for each slice s:              reduce(gradients, 1 / n, s)
//   for each slice s:              await(s), update slice s on main, send(parameters, s)
//
// On GPUs all of this only queues work, and no call waits for a device: while one slice is on its way, another is
// added up or updated.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "backend/buffer.h"

namespace odori {

/// Made by the main device, see Device::new_group(). Devices are numbered 0, 1, ..., the main one first; `buffers`
/// holds one flat vector a device, all of the same size, in that order.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;

  /// For people, one line: how the devices reach each other. Empty where there is nothing to tell.
  virtual std::string description() const = 0;

  /// Into how many slices a flat vector of n floats is cut; slice() in numbers/range.h says where.
  virtual std::size_t slices(std::size_t n) const = 0;
  /// true: the thread of device i exchanges slice i, all at once (CPU devices see one memory), and each step starts
  /// after the end of the one before. false: one thread queues all slices, one after another (GPUs).
  virtual bool each_thread_exchanges() const = 0;

  /// Called on device i's thread when it was asked for its gradients: what follows here comes after them.
  virtual void arrive(std::size_t i) = 0;
  /// main's = a * (sum of all): gradients to the main device.
  virtual void reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) = 0;
  /// Makes later work of the main device wait for reduce() of this slice.
  virtual void await(std::size_t slice) = 0;
  /// The others' = main's: parameters back. Starts after all work queued on the main device so far. Work that is queued
  /// on the others after the last slice was sent waits for all slices.
  virtual void send(std::span<Buffer* const> buffers, std::size_t slice) = 0;
};

}  // namespace odori
