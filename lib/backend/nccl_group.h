// SPDX-License-Identifier: Apache-2.0
// GPUs of several ranks, one GPU a rank, and NCCL's collectives among them. The plug-in has it (gpu_plugin.h), and
// knows nothing of MPI: the caller that makes a group sends its ranks the id by which they find each other in NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "backend/device.h"
#include "numbers/dtype.h"

namespace odori {

/// All calls are collective over the group's ranks, on the same number of elements on each, in the memory of the GPU
/// with which the rank joined; `device` is that GPU, or a second stream of it. They are queued after all earlier work
/// of the device, and before all that it is asked then: no host waits. Throws Error for another GPU.
class NcclGroup {
 public:
  enum class Become { sum, mean };
  /// Rank 0's bytes become those of every rank of the group.
  using BringId = std::function<void(std::span<std::byte> id)>;

  virtual ~NcclGroup() = default;

  /// Replaces every rank's elements by the sum, or the mean, over all ranks.
  virtual void all_reduce(Device& device, std::span<float> numbers, Become become) = 0;
  /// Replaces every rank's elements by the mean over all ranks, sent as 16-bit elements of `dtype`, each divided
  /// before they are added. Returns how many of the mean are infinite or nan: for that the host waits.
  virtual std::int64_t mean_in(Dtype dtype, Device& device, std::span<float> numbers) = 0;
  /// Replaces the root's elements by the sum; does not change the others'.
  virtual void sum_to(Device& device, std::span<float> numbers, int root) = 0;
  /// Replaces every rank's elements by the root's.
  virtual void broadcast(Device& device, std::span<float> numbers, int root) = 0;
  /// parts[r], ranges of the elements, belongs to rank r. Its own part becomes the sum, or the mean, of all ranks'
  /// there; the rest does not change.
  virtual void reduce_scatter(Device& device, std::span<float> numbers, std::span<const Range> parts,
                              Become become) = 0;
  /// Each part becomes that of the rank that it belongs to.
  virtual void all_gather(Device& device, std::span<float> numbers, std::span<const Range> parts) = 0;
};

}  // namespace odori
