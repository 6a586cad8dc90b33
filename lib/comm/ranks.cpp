#include "comm/ranks.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "core/error.h"

namespace odori {

Ranks find_ranks(std::span<const std::string> nodes, int rank) {
  const std::string& mine = nodes[static_cast<std::size_t>(rank)];
  Ranks ranks{.rank = rank, .size = static_cast<int>(nodes.size()), .intra_size = 0};
  std::vector<std::string> seen;  // in the order of each node's lowest rank
  for (int r = 0; r < ranks.size; ++r) {
    const std::string& node = nodes[static_cast<std::size_t>(r)];
    if (std::find(seen.begin(), seen.end(), node) == seen.end()) seen.push_back(node);
    if (node != mine) continue;
    ++ranks.intra_size;
    if (r < rank) ++ranks.intra_rank;
  }
  ranks.inter_size = static_cast<int>(seen.size());
  ranks.inter_rank = static_cast<int>(std::find(seen.begin(), seen.end(), mine) - seen.begin());
  return ranks;
}

std::vector<std::string> parse_nodes(const std::string& value, int size) {
  std::vector<std::string> nodes;
  std::istringstream fields(value + ",");
  for (std::string field; std::getline(fields, field, ',');) {
    int node = -1;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), node);
    require(error == std::errc() && end == field.data() + field.size() && node >= 0,
            "ODORI_NODES={}: \"{}\" is not a node's number. Give one number a rank, as in 0,0,1,1.", value, field);
    nodes.push_back(std::to_string(node));
  }
  require(static_cast<int>(nodes.size()) == size,
          "ODORI_NODES={} names the nodes of {} ranks, but this job has {}: give one number a rank.", value,
          nodes.size(), size);
  return nodes;
}

}  // namespace odori
