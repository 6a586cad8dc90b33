// GPUs of several ranks, one GPU a rank, and NCCL's collectives among them. The plug-in has it (gpu_plugin.h), and
// knows nothing of MPI: whoever makes a group brings its ranks the id by which NCCL lets them find each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "backend/device.h"
#include "numbers/dtype.h"

namespace odori {

/// All calls are collective over the group's ranks, on as many numbers on each, in the memory of the GPU with which the
/// rank joined; `device` is that GPU, or a lane of it. They are queued behind all that the device was asked before, and
/// before all that it is asked then: no host waits. Throws Error for another GPU.
class NcclGroup {
 public:
  enum class Become { sum, mean };
  /// Rank 0's bytes become those of every rank of the group.
  using BringId = std::function<void(std::span<std::byte> id)>;

  virtual ~NcclGroup() = default;

  /// Every rank's numbers become the sum, or the mean, of all ranks'.
  virtual void all_reduce(Device& device, std::span<float> numbers, Become become) = 0;
  /// Every rank's numbers become the mean of all ranks', on the way in numbers of `dtype`, of 16 bits, each divided
  /// before they are added. Returns how many of the mean are infinite or nan: for that the host waits.
  virtual std::int64_t mean_in(Dtype dtype, Device& device, std::span<float> numbers) = 0;
  /// The root's numbers become the sum; the others' stay.
  virtual void sum_to(Device& device, std::span<float> numbers, int root) = 0;
  /// Every rank's numbers become the root's.
  virtual void broadcast(Device& device, std::span<float> numbers, int root) = 0;
  /// parts[r], ranges of the numbers, belongs to rank r. Its own part becomes the sum, or the mean, of all ranks'
  /// there; the rest stays.
  virtual void reduce_scatter(Device& device, std::span<float> numbers, std::span<const Range> parts,
                              Become become) = 0;
  /// Each part becomes that of the rank that it belongs to.
  virtual void all_gather(Device& device, std::span<float> numbers, std::span<const Range> parts) = 0;
};

}  // namespace odori
