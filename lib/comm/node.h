// SPDX-License-Identifier: Apache-2.0
// Collectives among the ranks of one node: NCCL's for data on GPUs, MPI's for data in host memory. So a hierarchical
// algorithm is written once for both.
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

/// A span of floats in host memory or in a GPU's.
struct Elements {
  std::span<float> values;
  Device* gpu = nullptr;     // null: host memory
  Buffer* buffer = nullptr;  // the GPU's buffer that contains the span

  Elements part(Range range) const { return {values.subspan(range.begin, range.size()), gpu, buffer}; }
  /// Position of the span in the buffer.
  Range range() const {
    const auto begin = static_cast<std::size_t>(values.data() - buffer->data());
    return {begin, begin + values.size()};
  }
};

class Node {
 public:
  explicit Node(Group ranks) : ranks_(std::move(ranks)) {}

  /// True if elements are in GPU memory: every rank of the job has its own GPU, and this node has several. Otherwise
  /// host memory is used, since NCCL refuses ranks that share a GPU. The first call is collective over `all`.
  bool has_gpus(Communicator& all, Device& device);

  int rank() const { return ranks_.rank(); }
  /// This rank's chunk (Group::chunk).
  Elements own_part(const Elements& elements) const;

  // ---- As in group.h. Collective over the node.
  void reduce(const Elements& elements, int root) const;
  void broadcast(const Elements& elements, int root) const;
  void reduce_scatter(const Elements& elements) const;
  void all_gather(const Elements& elements) const;

 private:
  Group ranks_;
  bool asked_ = false;
  std::unique_ptr<NcclGroup> nccl_;
};

class NodeCommunicator : public MpiCommunicator {
 public:
  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) final;

 protected:
  /// THE ALGORITHM. Replaces `elements` on every rank by their mean over all ranks of the job.
  virtual void average_by_nodes(const Elements& elements) = 0;

  const Node& node() const { return node_; }
  /// Calls `work` with slices of the elements in host memory, and writes them back.
  void on_host(const Elements& elements, const std::function<void(std::span<float>)>& work);
  /// Multiplies by 1/P.
  using MpiCommunicator::divide;
  void divide(const Elements& elements) const;

 private:
  Node node_{intra()};
};

struct DeviceSharing {
  bool any = false;       // two ranks of the job share a GPU
  bool cpus_too = false;  // at least one rank has a CPU device
  int position = 0;       // index of this rank among the ranks on its GPU
};

/// Finds out which ranks share a GPU. Throws the same Error on every rank if two ranks share one without
/// --share-devices. Collective: every rank gives its device.
DeviceSharing find_sharing(Communicator& comm, const Device& device);

}  // namespace odori
