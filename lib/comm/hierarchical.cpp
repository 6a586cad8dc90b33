// SPDX-License-Identifier: Apache-2.0
// hierarchical: reduces within each node first, then between nodes, so that little data crosses the network.
//
//   for each slice of the flat vector (on GPUs: for all of it):
//     each node:          reduce it to the node's first rank (sum)
//     the first ranks:    all-reduce it between the nodes, then times 1/P
//     each node:          broadcast it from the first rank
//
// Bytes, of E bytes of gradients and N nodes: between nodes the first rank of each sends at least 2 E (N-1)/N, while
// the others wait; within a node the first rank receives at least E, and each other rank E. Nodes may have different
// numbers of ranks.
// Source: ChainerMN 1.3's HierarchicalCommunicator: NCCL within a node, MPI between nodes, in host memory. On CPU
// devices MPI does both.
#include "comm/node.h"

namespace odori {
namespace {

class HierarchicalCommunicator : public NodeCommunicator {
 public:
  std::string name() const override { return "hierarchical"; }

 protected:
  void average_by_nodes(const Elements& elements) override {
    constexpr int first = 0;
    node().reduce(elements, first);
    if (node().rank() == first)
      on_host(elements, [this](std::span<float> slice) {
        inter_.all_reduce(slice);
        divide(slice);
      });
    node().broadcast(elements, first);
  }

 private:
  Group inter_ = inter();
};

const Algorithm hierarchical_algorithm{
    "hierarchical", make<HierarchicalCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::in_slices(gradients.bytes, [&](double bytes) {
        return 2 * cost::to_or_from_first(cluster, bytes) + cost::faster(cost::between_nodes(cluster), bytes);
      });
    }};

}  // namespace
}  // namespace odori
