// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <algorithm>
#include <array>
#include <set>

#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "observe/hooks.h"
#include "test_cases.h"

namespace odori {
std::optional<simulate::Plan> asked_simulation() {
  if (!test_cases().is_object() || !test_cases().contains("simulate")) return {};
  try {
    return test_cases().at("simulate").get<simulate::Plan>();
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("ODORI_TEST_CASES holds no simulation: {}", error.what()));
  }
}

void write_simulation(const simulate::Plan& plan, const SimulationReport& report, const simulate::Result& drawn) {
  if (plan.folder.empty()) {
    for (const SimulationReport::Curve& curve : report.curves) {
      std::vector<float> values;
      for (const std::optional<double>& value : curve.values) values.push_back(static_cast<float>(value.value_or(0)));
      observe::on_values(values);
    }
    return;
  }
  simulate::write_trace(drawn, plan.folder);
  replace_file(plan.folder + "/report.json", json_text(nlohmann::json(report)));
}

std::vector<int> drawn_ranks(const simulate::Plan& plan) {
  constexpr std::size_t most = 8;
  const cost::Cluster& cluster = plan.clusters.back();
  const int n = cluster.ranks(), each = cluster.ranks_per_node;
  std::vector<int> wanted{0, n - 1};
  for (const auto& [rank, factor] : plan.stragglers) wanted.insert(wanted.end(), {rank, rank + 1, rank - 1});
  wanted.insert(wanted.end(), {each - 1, each, 1, n / 2, n / 2 + 1, n - 2, 2, n / 4});
  std::set<int> drawn;
  for (const int rank : wanted)
    if (rank >= 0 && rank < n && drawn.size() < most) drawn.insert(rank);
  return {drawn.begin(), drawn.end()};
}

std::vector<double> slowdown_of(const simulate::Plan& plan) {
  std::vector<double> all(static_cast<std::size_t>(plan.clusters.back().ranks()), 1.0);
  for (const auto& [rank, factor] : plan.stragglers) all.at(static_cast<std::size_t>(rank)) = factor;
  return all;
}

double largest_slowdown(const simulate::Plan& plan) { return std::ranges::max(slowdown_of(plan)); }

void on_each_cluster(const simulate::Plan& plan, const std::function<void(const cost::Cluster&)>& run) {
  for (const cost::Cluster& cluster : plan.clusters) try {
      run(cluster);
      observe::on_event("simulated", {{cluster.ranks()}});  // a run that shows nothing for long is taken to hang
    } catch (const Error& error) {
      if (error.code() == exit_code::unfilled) throw;
      throw Error(in_language({"On {}: {}", "{}: {}"}, in_language(in_words(cluster)), error.what()), error.code());
    }
}

Text in_words(const cost::Cluster& cluster) {
  const int n = cluster.ranks(), nodes = cluster.nodes, each = cluster.ranks_per_node;
  if (nodes == 1) return {fmt::format("{} ranks of one node", n), fmt::format("1 ノードの {} ランク", n)};
  return {fmt::format("{} ranks ({} nodes of {})", n, nodes, each),
          fmt::format("{} ランク（{} ノード × {}）", n, nodes, each)};
}

Text links_of(const cost::Cluster& cluster) {
  const std::string between = in_words(cluster.between), within = in_words(cluster.within);
  return {fmt::format("{} between nodes; {} within them", between, within),
          fmt::format("ノード間 {}、ノード内 {}", between, within)};
}

std::string duration_of(double seconds) {
  return seconds < 1 ? fmt::format("{:.4g} ms", 1e3 * seconds) : fmt::format("{:.4g} s", seconds);
}

std::string size_of(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.4g} kB", bytes / 1e3) : fmt::format("{:.4g} MB", bytes / 1e6);
}

std::string idle_of(const simulate::Result& result) {
  double idle = 0;
  for (const simulate::Totals& totals : result.ranks) idle += totals.idle / result.seconds;
  return fmt::format("{:.3g} %", 100 * idle / static_cast<double>(result.ranks.size()));
}

}  // namespace odori
