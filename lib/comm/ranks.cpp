// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.h"

#include <algorithm>
#include <unordered_map>

#include "errors/error.h"
#include "errors/text.h"

namespace odori {

std::vector<int> number_nodes(std::span<const std::string> nodes) {
  std::unordered_map<std::string, int> numbers;
  std::vector<int> result;
  for (const std::string& node : nodes)
    result.push_back(numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second);
  return result;
}

Ranks find_ranks(std::span<const std::string> nodes, int rank) {
  const std::vector<int> numbers = number_nodes(nodes);
  const auto own = numbers.begin() + rank;
  Ranks ranks{.rank = rank, .size = static_cast<int>(numbers.size())};
  ranks.intra_rank = static_cast<int>(std::count(numbers.begin(), own, *own));
  ranks.intra_size = static_cast<int>(std::count(numbers.begin(), numbers.end(), *own));
  ranks.inter_rank = *own;
  ranks.inter_size = 1 + *std::max_element(numbers.begin(), numbers.end());
  return ranks;
}

std::vector<std::string> parse_nodes(const std::string& value, int size) {
  std::vector<std::string> nodes;
  for (const std::string& field : split(value, ',')) {
    const int node = number_of<int>(field).value_or(-1);
    require(node >= 0, "ODORI_NODES={}: \"{}\" is not a node's number. Give one number a rank, as in 0,0,1,1.", value,
            field);
    nodes.push_back(std::to_string(node));
  }
  require(static_cast<int>(nodes.size()) == size,
          "ODORI_NODES={} names the nodes of {} ranks, but this job has {}: give one number a rank.", value,
          nodes.size(), size);
  return nodes;
}

}  // namespace odori
