// SPDX-License-Identifier: Apache-2.0
// The training runs that the demo compares.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"

namespace odori::demo {

struct Setting {
  std::string driver;              // ./odori
  std::string out;                 // the demo's folder; each run writes into a subfolder
  std::vector<std::string> flags;  // flags of all runs: --model mid ...
  int n_devices = 1;               // devices that this machine can run at once: its GPUs, or else its cores
  bool gpus = false;               // the devices are GPUs
};

struct Training {
  Run run;
  std::vector<std::string> command;
  std::string out;  // folder of its result.json
};

/// Returns the baseline, task 1, and task 2 on two nodes with one and with two ranks each. Runs with more ranks than
/// devices are not timed, since ranks would wait for each other: run.not_timed has the reason.
std::vector<Training> plan(const Setting& setting);

/// Returns the order of timings of n runs, as indices into the plan: the baseline (0) first, last and in between, the
/// headline (1) three times, the others once. So every timing is close to one of the baseline, and the headline has a
/// range.
std::vector<std::size_t> order(std::size_t n);

/// Images per epoch so that one device trains for about `seconds` over all epochs: a multiple of 100, at least 600, at
/// most `all`.
std::size_t images_for(double seconds, double images_per_second, int epochs, std::size_t all);

/// Speed of one device.
struct Speed {
  double images_per_second = 0;
  double start = 0;  // seconds before and after training
};

/// Predicted seconds of the runs at these indices, if each trains on n_images.
double seconds_of(std::span<const Run> runs, std::span<const std::size_t> places, double n_images, const Speed& speed);

}  // namespace odori::demo
