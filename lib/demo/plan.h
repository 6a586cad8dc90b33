// SPDX-License-Identifier: Apache-2.0
// Which training runs the demo compares.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"

namespace odori::demo {

struct Setting {
  std::string driver;              // ./odori
  std::string out;                 // the demo's folder; each training writes into one of its own below
  std::vector<std::string> flags;  // what all training runs share: --model mid ...
  int n_devices = 1;               // that this machine can run side by side: its GPUs, or else its cores
  bool gpus = false;               // what these are
};

struct Training {
  Run run;
  std::vector<std::string> command;
  std::string out;  // where its result.json will lie
};

/// The baseline first; then task 1, and task 2 on two nodes with one and with two ranks each. Ranks that outnumber the
/// devices would wait for each other, and such a time says nothing: those runs have the reason in run.not_timed.
std::vector<Training> plan(const Setting& setting);

/// In which order n training runs are timed, by their places in the plan: the baseline (0) first, last and in the
/// middle, the headline (1) three times, the others once. So every timing has a baseline near to it, and the headline a
/// range.
std::vector<std::size_t> order(std::size_t n);

/// Images of an epoch with which one device trains for about `seconds` in all: some hundreds, at least 600, at most
/// `all`.
std::size_t images_for(double seconds, double images_per_second, int epochs, std::size_t all);

/// How fast one device is.
struct Speed {
  double images_per_second = 0;
  double start = 0;  // seconds until a training begins, and after its end
};

/// Seconds that the training runs at these places will take, if each trains on n_images and each device is this fast.
double seconds_of(std::span<const Run> runs, std::span<const std::size_t> places, double n_images, const Speed& speed);

}  // namespace odori::demo
