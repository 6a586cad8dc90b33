// SPDX-License-Identifier: Apache-2.0
// two_dimensional: ranks form a grid with a row per node, and a column per intra_rank. All columns work at once.
//
//   for each slice of the flat vector (on GPUs: for all of it), divided into L chunks, L the ranks per node:
//     each row:      reduce-scatter: rank l of the node computes the node's sum of chunk l
//     each column:   all-reduce that chunk between the nodes, and multiply it by 1/P
//     each row:      all-gather the chunks
//
// A rank sends, of E bytes of gradients with N nodes, at least 2 E (L-1)/L within its node, and 2 (E/L) (N-1)/N to
// other nodes. A node sends as much as with hierarchical, but from all its ranks instead of one, and all of them
// compute its sum. Needs the same number of ranks on each node.
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
          {fmt::format("The communicator two_dimensional needs the same number of ranks on each node, but the nodes "
                       "have {}. Start as many on each, or use hierarchical.",
                       fmt::join(ranks, ", ")),
           fmt::format("two_dimensional には各ノードに同じ数のランクが必要ですが、ノードごとのランク数は {} です。"
                       "各ノードのランク数をそろえるか、hierarchical を使ってください。",
                       fmt::join(ranks, "、"))});
    inter_ = inter();
  }
  std::string name() const override { return "two_dimensional"; }

 protected:
  void average_by_nodes(const Elements& elements) override {
    node().reduce_scatter(elements);
    on_host(node().own_part(elements), [this](std::span<float> column) {
      inter_.all_reduce(column);
      divide(column);
    });
    node().all_gather(elements);
  }

 private:
  Group inter_;
};

const Algorithm two_dimensional_algorithm{
    "two_dimensional", make<TwoDimensionalCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::in_slices(gradients.bytes, [&](double bytes) {
        return 2 * cost::halves(cluster, bytes) + cost::faster(cost::between_nodes(cluster), bytes);
      });
    }};

}  // namespace
}  // namespace odori
