// SPDX-License-Identifier: Apache-2.0
// Several training runs side by side: what more devices bought.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/machine.h"

namespace odori {

/// A training that took part, or the reason why it didn't.
struct Run {
  std::string name;     // "two nodes, one rank each"
  std::string name_ja;  // the same in Japanese
  std::string command;  // what a learner types to have the same
  int devices = 1, nodes = 1;
  std::string communicator;  // empty: none
  std::string not_timed;     // why there is no measurement; empty if there is one
  std::string not_timed_ja;  // the same in Japanese

  double images_per_second = 0;  // the median, if it was timed several times
  struct Timing {
    double images_per_second, baseline;  // baseline: the first run's, as timed right before and after
  };
  std::vector<Timing> timings;
  std::vector<double> accuracy;  // of the test set, after each epoch
};

struct Comparison {
  Machine machine;
  std::string date, dataset, model;
  std::size_t n_images = 0;  // training images
  int epoch = 0, batchsize = 0;
  bool simulated_nodes = true;  // one machine plays all nodes
  std::vector<Run> runs;        // the first is what the others are compared with

  /// The runs as they were timed, one after the other: { which run, its images/s }. Begins and ends with the first run,
  /// which is what each timing is compared with: the mean of the nearest ones before and after. Machines drift.
  void take(const std::vector<std::pair<std::size_t, double>>& timings);
  /// In sentences: how steady the machine was, from where to where the headline's speedup went, and what can't be true.
  /// Empty if nothing was timed more than once.
  std::string timing_note() const;
  std::vector<double> baseline;  // images/s of the first run, each time
  int n_disturbed = 0;           // timings during which other programs used cores that the run needed
  /// How many times as fast as the first run: the median of its timings.
  double speedup(const Run& run) const;
  /// From the least to the most of its timings.
  std::pair<double, double> speedup_range(const Run& run) const;
  /// The speedup's share of what the devices could give at best: 1 is linear.
  double efficiency(const Run& run) const { return speedup(run) / run.devices * runs.front().devices; }
  /// What is shown first: the first timed run of several devices, however fast others were; the first run, if there is
  /// none.
  const Run& headline() const;
  /// More than all devices could give: the machine changed its speed, and the figure says nothing.
  bool above_ceiling(const Run& run) const { return efficiency(run) > 1; }
};

/// For a terminal: a line a run, and below it what was not timed, and why.
std::string to_text(const Comparison& comparison);
/// All of it; a run that was not timed has "not_timed" and no figures.
void to_json(nlohmann::json& json, const Comparison& comparison);

/// One self-contained web page in English and Japanese: figures, a speedup chart, the table, accuracy by epoch, the
/// commands. `chart_js` is Chart.js's own text, which goes into the page; with none the page says so and holds
/// everything but the charts.
std::string to_page(const Comparison& comparison, const std::string& chart_js);

}  // namespace odori
