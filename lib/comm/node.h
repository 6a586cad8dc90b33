// SPDX-License-Identifier: Apache-2.0
// The ranks of this node, and collectives among them where the data is: NCCL's from GPU to GPU, MPI's in host memory.
// So an algorithm that knows nodes is written once for both.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "backend/nccl_group.h"
#include "comm/algorithm.h"
#include "comm/communicator.h"
#include "comm/group.h"

namespace odori {

class Communicator;

/// Elements of this rank, in host memory or a GPU's.
struct Numbers {
  std::span<float> there;
  Device* gpu = nullptr;     // null: host memory
  Buffer* buffer = nullptr;  // of the GPU, which holds them

  Numbers part(Range range) const { return {there.subspan(range.begin, range.size()), gpu, buffer}; }
  /// Their place in the buffer.
  Range range() const {
    const auto begin = static_cast<std::size_t>(there.data() - buffer->data());
    return {begin, begin + there.size()};
  }
};

class Node {
 public:
  explicit Node(Group ranks) : ranks_(std::move(ranks)) {}

  /// Finds out, when it is first asked, whether each rank of the job has a GPU of its own, and this node several: then
  /// Elements are in a GPU's memory, and else in host memory, since NCCL refuses ranks that share one. Collective over
  /// all ranks of `all`.
  bool has_gpus(Communicator& all, Device& device);

  int rank() const { return ranks_.rank(); }
  /// The part that belongs to this rank: group.h says which.
  Numbers own_part(const Numbers& numbers) const;

  // ---- As group.h says. Collective over the node.
  void sum_to(const Numbers& numbers, int root) const;
  void broadcast(const Numbers& numbers, int root) const;
  void reduce_scatter(const Numbers& numbers) const;
  void all_gather(const Numbers& numbers) const;

 private:
  Group ranks_;
  bool asked_ = false;
  std::unique_ptr<NcclGroup> nccl_;
};

class NodeCommunicator : public MpiCommunicator {
 public:
  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) final;

 protected:
  /// THE ALGORITHM. Replaces the elements on every rank by their mean over all ranks.
  virtual void average_by_nodes(const Numbers& numbers) = 0;

  const Node& node() const { return node_; }
  /// Calls `work` with slices of the elements in host memory.
  void on_host(const Numbers& numbers, const std::function<void(std::span<float>)>& work);
  /// Multiplies by 1/P.
  using MpiCommunicator::divide;
  void divide(const Numbers& numbers) const;

 private:
  Node node_{intra()};
};

struct DeviceSharing {
  bool any = false;       // do two ranks of the job share one GPU?
  bool cpus_too = false;  // is a rank's device a CPU device?
  int position = 0;       // of this rank among the ranks on its GPU: 0, 1, ...
};

/// Collective: every rank gives its device. Throws Error, the same on every rank, if two ranks share a GPU that
/// isn't to be shared.
DeviceSharing find_sharing(Communicator& comm, const Device& device);

}  // namespace odori
