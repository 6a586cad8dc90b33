// SPDX-License-Identifier: Apache-2.0
// NCCL's collectives between the GPUs of several ranks, one GPU per rank. The plug-in (gpu_plugin.h) implements it
// without MPI: the creator of a group provides the broadcast of NCCL's unique id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "backend/device.h"
#include "numbers/dtype.h"

namespace odori {

/// All calls are collective over the group's ranks, with the same number of elements on each. The elements are in the
/// memory of the GPU with which the rank joined; `device` is that GPU or a second stream of it. Calls are ordered after
/// the device's queued work and before its later work, and do not block the host. Throws Error for another GPU.
class NcclGroup {
 public:
  enum class ReduceOp { sum, mean };
  /// Replaces the bytes on every rank of the group by rank 0's.
  using BroadcastId = std::function<void(std::span<std::byte> id)>;

  virtual ~NcclGroup() = default;

  /// Replaces the elements on every rank by their sum or mean over all ranks.
  virtual void all_reduce(Device& device, std::span<float> values, ReduceOp op) = 0;
  /// The mean, with 16-bit elements in messages, which are divided before they are added. Returns the number of
  /// infinite or NaN elements of the mean, for which the host waits.
  virtual std::int64_t all_reduce_mean_in(Dtype dtype, Device& device, std::span<float> values) = 0;
  /// Replaces the root's elements by the sum over all ranks; does not change the others'.
  virtual void reduce(Device& device, std::span<float> values, int root) = 0;
  /// Replaces the elements on every rank by the root's.
  virtual void broadcast(Device& device, std::span<float> values, int root) = 0;
  /// Replaces this rank's part by its sum or mean over all ranks; does not change the rest. parts[r]: the range of rank
  /// r.
  virtual void reduce_scatter(Device& device, std::span<float> values, std::span<const Range> parts, ReduceOp op) = 0;
  /// Replaces each part by the elements of the rank that it belongs to.
  virtual void all_gather(Device& device, std::span<float> values, std::span<const Range> parts) = 0;
};

}  // namespace odori
