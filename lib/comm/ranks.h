// SPDX-License-Identifier: Apache-2.0
// Who is who among the ranks of a job, from the names of their nodes.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace odori {

/// Ranks and sizes of Communicator.
struct Ranks {
  int rank = 0, size = 1;
  int intra_rank = 0, intra_size = 1;
  int inter_rank = 0, inter_size = 1;
  bool operator==(const Ranks&) const = default;
};

/// Each rank's node, by number: nodes in the order of their lowest rank. `nodes[r]` names the node of rank r.
std::vector<int> number_nodes(std::span<const std::string> nodes);

/// `nodes[r]` names the node of rank r. Nodes are numbered by their lowest rank, ranks within a node by their rank in
/// the job; any placement will do (block, cyclic, uneven).
Ranks find_ranks(std::span<const std::string> nodes, int rank);

/// "0,0,1,1", the value of ODORI_NODES: one node's number for each rank. Throws Error for another number of ranks than
/// `size`, and for anything but integers.
std::vector<std::string> parse_nodes(const std::string& value, int size);

}  // namespace odori
