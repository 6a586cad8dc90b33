// SPDX-License-Identifier: Apache-2.0
// single_node: all ranks stand on one node, and no network is needed.
//
//   for each slice of the flat vector (on GPUs: for all of it), cut into P chunks:
//     reduce-scatter: rank r gets the sum of chunk r, and multiplies it by 1/P
//     all-gather the chunks
//
// Bytes a rank sends, of E bytes of gradients: at least 2 E (P-1)/P, all of them within the node. Refuses more nodes.
// Source: ChainerMN 1.3's SingleNodeCommunicator, which is one call of NCCL's all-reduce. On CPU devices it is MPI,
// which speaks through shared memory within a node.
#include "comm/node.h"
#include "errors/error.h"

namespace odori {
namespace {

class SingleNodeCommunicator : public NodeCommunicator {
 public:
  SingleNodeCommunicator() {
    if (inter_size() > 1)
      throw CannotBeUsed(
          fmt::format("The communicator single_node works within one node, but the ranks stand on {}. Use one of the "
                      "others: hierarchical, for example.",
                      inter_size()),
          fmt::format("single_node は 1 ノード内で動きますが、ランクが {} ノードにあります。", inter_size()));
  }
  std::string name() const override { return "single_node"; }

 protected:
  void average_by_nodes(const Numbers& numbers) override {
    node().reduce_scatter(numbers);
    divide(node().own_part(numbers));
    node().all_gather(numbers);
  }
};

const Algorithm single_node_algorithm{
    "single_node", make<SingleNodeCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      if (cluster.nodes > 1) return {};
      return cost::in_slices(gradients.bytes, [&](double bytes) { return 2 * cost::halves(cluster, bytes); });
    }};

}  // namespace
}  // namespace odori
