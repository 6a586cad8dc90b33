// SPDX-License-Identifier: Apache-2.0
// single_node: for ranks that are all on one node, without a network.
//
//   for each slice of the flat vector (on GPUs: for all of it), divided into P chunks:
//     reduce-scatter: rank r computes the sum of chunk r, and multiplies it by 1/P
//     all-gather the chunks
//
// A rank sends at least 2 E (P-1)/P bytes, E the bytes of all gradients, all within the node. Refuses several nodes.
// Source: ChainerMN 1.3's SingleNodeCommunicator, which is one call of NCCL's all-reduce. On CPU devices it uses MPI,
// which communicates through shared memory within a node.
#include "comm/node.h"
#include "errors/error.h"

namespace odori {
namespace {

class SingleNodeCommunicator : public NodeCommunicator {
 public:
  SingleNodeCommunicator() {
    if (inter_size() > 1)
      throw CannotBeUsed(
          {fmt::format("The communicator single_node works within one node, but the ranks stand on {}. Use one of the "
                       "others: hierarchical, for example.",
                       inter_size()),
           fmt::format("single_node は 1 ノード内で動きますが、ランクが {} ノードにあります。"
                       "hierarchical などを使ってください。",
                       inter_size())});
  }
  std::string name() const override { return "single_node"; }

 protected:
  void average_by_nodes(const Elements& elements) override {
    node().reduce_scatter(elements);
    divide(node().own_part(elements));
    node().all_gather(elements);
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
