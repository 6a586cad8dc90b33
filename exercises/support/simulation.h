// SPDX-License-Identifier: Apache-2.0
// A simulation that ./odori simulate asks a program for. For support code alone, as test_cases.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/simulation.h"
#include "simulate/plan.h"
#include "simulate/simulate.h"

namespace odori {

/// Returns the plan in $ODORI_TEST_CASES; nothing without one. Throws UsageError if it cannot be read.
std::optional<simulate::Plan> asked_simulation();

/// Writes the report to the plan's folder, and traces of the result's recorded ranks; without a folder, reports the
/// values of each curve to the observer. Throws WriteError.
void write_simulation(const simulate::Plan& plan, const SimulationReport& report, const simulate::Result& drawn);

/// Of the plan's last cluster: the ranks worth drawing, 8 at most, in order: the first, the last, those at the first
/// node's end, stragglers and their neighbours.
std::vector<int> drawn_ranks(const simulate::Plan& plan);

/// The factor on each rank's computation, and the largest.
std::vector<double> slowdown_of(const simulate::Plan& plan);
double largest_slowdown(const simulate::Plan& plan);

/// Calls `run` for each of the plan's clusters. An Error names the cluster on which it happened.
void on_each_cluster(const simulate::Plan& plan, const std::function<void(const cost::Cluster&)>& run);

/// "1024 ranks (128 nodes of 8)".
Text in_words(const cost::Cluster& cluster);
/// "100 Gbit/s, 5 us between nodes; 200 Gbit/s, 2 us within them".
Text links_of(const cost::Cluster& cluster);
/// "19.63 ms", "2.100 s"
std::string duration_of(double seconds);
/// "59.91 MB"
std::string size_of(double bytes);
/// The mean over the ranks of the share of the time in which a rank waits for others, in percent: "1.25 %".
std::string idle_of(const simulate::Result& result);

}  // namespace odori
