// SPDX-License-Identifier: Apache-2.0
// Compares training runs on one and more devices.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/machine.h"

namespace odori {

/// A training run, or the reason why there is none.
struct Run {
  std::string name;     // "two nodes, one rank each"
  std::string name_ja;  // the same in Japanese
  std::string command;  // the command that repeats it
  int devices = 1, nodes = 1;
  std::string communicator;  // empty: none
  std::string not_timed;     // the reason; empty if it was timed
  std::string not_timed_ja;  // the same in Japanese

  double images_per_second = 0;  // the median of several timings
  struct Timing {
    double images_per_second, baseline;  // baseline: images/s of the first run, timed just before and after
  };
  std::vector<Timing> timings;
  std::vector<double> accuracy;  // on the test set, after each epoch

  /// In the language of this process.
  std::string shown() const;
  std::string why_not_timed() const;
};

struct Comparison {
  Machine machine;
  std::string date, dataset, model;
  std::size_t n_images = 0;  // training images
  int epoch = 0, batchsize = 0;
  bool simulated_nodes = true;  // one machine simulates all nodes
  std::vector<Run> runs;        // the first is the baseline

  /// Stores timings in chronological order: {index of the run, images/s}. The first and the last must be of run 0, the
  /// baseline. Since machines drift, each timing is compared with the mean of the nearest baseline timings before and
  /// after it.
  void take(const std::vector<std::pair<std::size_t, double>>& timings);
  /// Sentences about the baseline's variation, the range of the headline's speedup, and implausible speedups. Empty if
  /// nothing was timed more than once.
  std::string timing_note() const;
  std::vector<double> baseline;  // images/s of each timing of the first run
  int n_disturbed = 0;           // number of timings during which other programs used cores that the run needed
  /// Speedup over the first run: the median over the timings.
  double speedup(const Run& run) const;
  /// The smallest and the largest speedup of the timings.
  std::pair<double, double> speedup_range(const Run& run) const;
  /// Speedup divided by the ratio of devices; 1: linear speedup.
  double efficiency(const Run& run) const { return speedup(run) / run.devices * runs.front().devices; }
  /// The run that reports show first: the first timed run on several devices, or else the first run.
  const Run& headline() const;
  /// True if the speedup is more than linear: the machine's speed changed, and the figure is meaningless.
  bool above_ceiling(const Run& run) const { return efficiency(run) > 1; }
};

/// A table for a terminal, one line per run, and the reasons of runs that were not timed.
std::string to_text(const Comparison& comparison);
/// A run that was not timed has "not_timed", the reason, instead of figures.
void to_json(nlohmann::json& json, const Comparison& comparison);

/// A self-contained web page in English and Japanese: figures, a speedup chart, the table, accuracy by epoch, the
/// commands. `chart_js`: the source of Chart.js (html.h), embedded in the page. Empty: the page has no charts, and says
/// so.
std::string to_page(const Comparison& comparison, const std::string& chart_js);

}  // namespace odori
