// SPDX-License-Identifier: Apache-2.0
// two_dimensional: ranks as a table, one row per node, a column of those with the same intra_rank; all columns work at
// once.
//
//   for each slice of the flat vector (on GPUs: for all of it), cut into L chunks, L the ranks of a node:
//     each row:      reduce-scatter: rank l of the node gets the node's sum of chunk l
//     each column:   all-reduce that chunk between the nodes, then times 1/P
//     each row:      all-gather the chunks
//
// Bytes a rank sends, of E bytes of gradients, N nodes: within its node at least 2 E (L-1)/L, between nodes at least
// 2 (E/L) (N-1)/N. As many between nodes as hierarchical, but from all ranks of a node instead of one, and the sum of
// a node is computed by all its ranks. Needs the same number of ranks on each node.
// Source: ChainerMN 1.3's TwoDimensionalCommunicator: NCCL within a node, MPI between nodes, in host memory. On CPU
// devices MPI does both.
#include <fmt/ranges.h>

#include <algorithm>

#include "comm/node.h"
#include "errors/error.h"

namespace odori {
namespace {

class TwoDimensionalCommunicator : public NodeCommunicator {
 public:
  TwoDimensionalCommunicator() {
    const std::vector<int> ranks = ranks_of_nodes();
    if (std::count(ranks.begin(), ranks.end(), ranks[0]) != std::ssize(ranks))
      throw CannotBeUsed(
          fmt::format("The communicator two_dimensional needs the same number of ranks on each node, but the nodes "
                      "have {}. Start as many on each, or use hierarchical.",
                      fmt::join(ranks, ", ")),
          fmt::format("two_dimensional には各ノードに同じ数のランクが必要ですが、ノードごとのランク数は {} です。",
                      fmt::join(ranks, "、")));
    inter_ = inter();
  }
  std::string name() const override { return "two_dimensional"; }

 protected:
  void average_by_nodes(const Numbers& numbers) override {
    node().reduce_scatter(numbers);
    on_host(node().own_part(numbers), [this](std::span<float> column) {
      inter_.sum(column);
      divide(column);
    });
    node().all_gather(numbers);
  }

 private:
  Group inter_;
};

const Algorithm two_dimensional_algorithm{
    "two_dimensional", make<TwoDimensionalCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::in_slices(gradients.bytes, [&](double bytes) {
        return 2 * cost::halves(cluster, bytes) + cost::quicker(cost::between_nodes(cluster), bytes);
      });
    }};

}  // namespace
}  // namespace odori
