// SPDX-License-Identifier: Apache-2.0
#include "comm/interconnect.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "comm/ranks.h"
#include "errors/error.h"
#include "program/rank_table.h"

namespace odori {
namespace {

void require_session() {
  int initialized = 0, finalized = 0;
  ODORI_MPI(MPI_Initialized(&initialized));
  ODORI_MPI(MPI_Finalized(&finalized));
  require(initialized && !finalized, "A communicator needs an MpiSession that lives: make it first thing in main.");
}

/// Of every rank, by rank. Collective.
std::vector<std::string> texts_of_all(const std::string& own) {
  int size = 0;
  ODORI_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  const auto length = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), offsets(lengths.size());
  ODORI_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD));
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  ODORI_MPI(MPI_Allgatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                           MPI_COMM_WORLD));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

/// Rank 0's holds for all, since mpirun doesn't carry variables to other hosts by itself. Collective.
std::string variable_of_rank_0(const char* name) {
  const char* const value = std::getenv(name);
  return texts_of_all(value ? value : "").front();
}

std::string host() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  ODORI_MPI(MPI_Get_processor_name(name, &length));
  return name;
}

}  // namespace

Interconnect::Interconnect() {
  require_session();
  const BlockingCall call(CollectiveCall{"create_communicator()"});
  int rank = 0;
  ODORI_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  const std::vector<std::string> hosts = texts_of_all(host());
  std::set<std::string> others(hosts.begin(), hosts.end());
  others.erase(hosts[static_cast<std::size_t>(rank)]);
  rank_table::set_other_hosts(fmt::format("{}", fmt::join(others, ", ")));
  const std::string simulated = variable_of_rank_0("ODORI_NODES"), link = variable_of_rank_0("ODORI_LINK");
  const auto names = simulated.empty() ? hosts : parse_nodes(simulated, static_cast<int>(hosts.size()));
  nodes_ = number_nodes(names);
  ranks_ = find_ranks(names, rank);
  if (link.empty()) return;
  const cost::Link speed = cost::link_from(link);
  require(others.empty(),
          "ODORI_LINK={} simulates a link between nodes that one machine plays, but these ranks stand on {} machines, "
          "which have a real one. Unset ODORI_LINK.",
          link, others.size() + 1);
  if (ranks_.inter_size > 1) {
    link_.emplace(speed, ranks_.inter_size);
    agree_asleep();
  } else if (static bool told = false; rank == 0 && !std::exchange(told, true)) {
    fmt::print("ODORI_LINK={} changes nothing: all ranks are on one node, and a link is between nodes.\n", link);
  }
}

void Interconnect::count(int from, int to, std::int64_t messages, std::int64_t bytes) {
  const bool here = node(from) == node(to);
  const auto add = [&](Traffic& within, Traffic& between) {
    Traffic& traffic = here ? within : between;
    traffic.messages += messages, traffic.bytes += bytes;
  };
  if (from == ranks_.rank) add(traffic_.sent_within_node, traffic_.sent_to_other_nodes);
  if (to == ranks_.rank) add(traffic_.received_within_node, traffic_.received_from_other_nodes);
}

std::vector<int> Interconnect::nodes_of(const std::vector<int>& ranks) const {
  std::vector<int> nodes;
  for (const int rank : ranks) nodes.push_back(node(rank));
  return nodes;
}

Load Interconnect::load(int from, int to, double bytes) const { return load({{{0, 1, 1, bytes}}, 1}, {from, to}); }

Load Interconnect::load(const Steps& steps, const std::vector<int>& ranks) const {
  return load_of(steps, nodes_of(ranks), ranks_.inter_size);
}

std::vector<Steps> Interconnect::all_reduce(const std::vector<int>& ranks, double bytes) const {
  if (!link_) return {ring_steps(static_cast<int>(ranks.size()), 2, bytes)};
  return all_reduce_steps(bytes, nodes_of(ranks), ranks_.inter_size, link_->speed());
}

void agree_on_communicator(const std::string& name) {
  require_session();
  const BlockingCall call(CollectiveCall{"create_communicator()"});
  const std::vector<std::string> names = texts_of_all(name);
  std::map<std::string, std::vector<std::size_t>> ranks_of;
  for (std::size_t r = 0; r < names.size(); ++r) ranks_of[names[r]].push_back(r);
  if (ranks_of.size() == 1) return;
  std::string asked;
  for (const auto& [of, ranks] : ranks_of)
    asked += fmt::format("{}{} (rank {})", asked.empty() ? "" : ", ", of, fmt::join(ranks, ", "));
  fail("The ranks ask for different communicators: {}. Give every rank the same --communicator.", asked);
}

}  // namespace odori
