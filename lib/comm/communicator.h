// What ranks say to each other. One algorithm a file beside this one; README.md here compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "core/range.h"

namespace odori {

class Communicator {
 public:
  virtual ~Communicator() = default;

  // ---- Who is who. Nodes are told apart by name; ODORI_NODES=0,0,1,1 gives each rank's node instead, so that one
  // machine can play several.
  virtual int rank() const = 0;        // of all ranks
  virtual int size() const = 0;        // how many ranks
  virtual int intra_rank() const = 0;  // within this node
  virtual int intra_size() const = 0;
  virtual int inter_rank() const = 0;  // this node, ordered by each node's lowest rank
  virtual int inter_size() const = 0;  // how many nodes
  virtual std::string name() const = 0;

  // ---- Models. All collective: every rank calls, with buffers of the same size, each of this rank's device. They come
  // after all that the device was asked before, and before all that it is asked then.
  /// Every rank's gradients become their mean over all ranks. `pieces`: one range a parameter, ascending.
  virtual void mean(Device& device, Buffer& gradients, std::span<const Range> pieces) = 0;
  /// Every rank gets the root's values.
  virtual void broadcast(Device& device, Buffer& values, int root = 0) = 0;

  // ---- Small things of host memory. All collective.
  virtual void sum(std::span<double> values) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root = 0) = 0;
  /// Rank r receives counts[r] bytes of the root's `all` (ranks in order). counts is needed on every rank, `all` on
  /// the root only.
  virtual std::vector<std::byte> scatter(std::span<const std::byte> all, std::span<const std::size_t> counts,
                                         int root = 0) = 0;
  virtual void barrier() = 0;
};

/// "naive": an all-reduce a parameter. "flat": one all-reduce of all gradients. "pure_nccl": NCCL's, on GPUs.
/// Throws UsageError for another name, listing these, and for pure_nccl where GPUs can't be used.
/// Collective over all ranks of the job.
std::unique_ptr<Communicator> create_communicator(const std::string& name);

}  // namespace odori
