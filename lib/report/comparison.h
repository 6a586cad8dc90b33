// Several trainings side by side: what more devices bought.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
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

  double images_per_second = 0;
  std::vector<double> accuracy;  // of the test set, after each epoch
};

struct Comparison {
  Machine machine;
  std::string date, dataset, model;
  std::size_t n_images = 0;  // training images
  int epoch = 0, batchsize = 0;
  bool simulated_nodes = true;  // one machine plays all nodes
  std::vector<Run> runs;        // the first is what the others are compared with

  /// The first run was timed once more after all others: it counts with the mean, and baseline_note() says both.
  void time_first_again(double images_per_second);
  /// In a sentence, how steady the machine was; empty if the first run was timed once.
  std::string baseline_note() const;
  std::vector<double> baseline;  // images/s of the first run, before and after the others
  /// How many times as fast as the first run.
  double speedup(const Run& run) const { return run.images_per_second / runs.front().images_per_second; }
  /// The speedup's share of what the devices could give at best: 1 is linear.
  double efficiency(const Run& run) const { return speedup(run) / run.devices * runs.front().devices; }
  /// Of the runs that were timed.
  const Run& fastest() const;
};

/// For a terminal: a line a run, and below it what was not timed, and why.
std::string to_text(const Comparison& comparison);
/// All of it; a run that was not timed has "not_timed" and no figures.
void to_json(nlohmann::json& json, const Comparison& comparison);

}  // namespace odori
