// SPDX-License-Identifier: Apache-2.0
// Computes ranks within and between nodes from the nodes' names.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace odori {

/// The ranks and sizes that Communicator returns.
struct Ranks {
  int rank = 0, size = 1;
  int intra_rank = 0, intra_size = 1;
  int inter_rank = 0, inter_size = 1;
  bool operator==(const Ranks&) const = default;
};

/// Returns each rank's node, numbered by the nodes' lowest ranks. `nodes[r]` names the node of rank r.
std::vector<int> number_nodes(std::span<const std::string> nodes);

/// Computes the ranks of `rank`. Within a node, ranks are ordered by their rank in the job. Any placement works: block,
/// cyclic, uneven.
Ranks find_ranks(std::span<const std::string> nodes, int rank);

/// Parses ODORI_NODES: "0,0,1,1", the node of each rank. Throws Error unless it is `size` integers of 0 or more.
std::vector<std::string> parse_nodes(const std::string& value, int size);

}  // namespace odori
