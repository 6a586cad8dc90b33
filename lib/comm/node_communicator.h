// SPDX-License-Identifier: Apache-2.0
// What the algorithms that average within each node first have in common: on GPUs the data is not copied to the host
// within a node, and come to host memory for what goes between nodes.
#pragma once

#include "comm/algorithm.h"
#include "comm/node.h"

namespace odori {

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

}  // namespace odori
