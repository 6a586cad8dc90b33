// SPDX-License-Identifier: Apache-2.0
// non_cuda_aware: as hierarchical, for an MPI that is not CUDA-aware: everything between nodes is in host memory, and
// each node adds one chunk.
//
//   for each slice of the flat vector, divided into N chunks, N the nodes:
//     each node:          reduce it to the node's first rank (sum)
//     the first ranks:    all-to-all: node n receives chunk n of all nodes, adds them, and multiplies by 1/P
//                         all-gather the chunks
//     each node:          broadcast it from the first rank
//
// Bytes, of E bytes of gradients: between nodes the first rank of each sends at least 2 E (N-1)/N; within a node as
// hierarchical. Nodes may have different numbers of ranks.
// Source: ChainerMN 1.3's NonCudaAwareCommunicator, which uses NCCL within a node, and copies to the host for MPI.
// Here MPI does both, in host memory.
#include "comm/algorithm.h"

namespace odori {
namespace {

class NonCudaAwareCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "non_cuda_aware"; }

 protected:
  void all_reduce(std::span<float> slice) override {
    constexpr int first = 0;
    intra_.reduce(slice, first);
    if (intra_.rank() == first) {
      inter_.reduce_scatter_by_all_to_all(slice);
      divide(inter_.chunk(slice, inter_.rank()));
      inter_.all_gather(slice);
    }
    intra_.broadcast(slice, first);
  }

 private:
  Group intra_ = intra(), inter_ = inter();
};

const Algorithm non_cuda_aware_algorithm{
    "non_cuda_aware", make<NonCudaAwareCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      // An all-to-all and an all-gather: messages and bytes of a ring.
      return cost::in_slices(gradients.bytes, [&](double bytes) {
        return 2 * cost::to_or_from_first(cluster, bytes) + cost::ring(cost::between_nodes(cluster), bytes);
      });
    }};

}  // namespace
}  // namespace odori
