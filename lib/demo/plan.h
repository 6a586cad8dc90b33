// Which trainings the demo compares.
#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"

namespace odori::demo {

struct Setting {
  std::string driver;              // ./odori
  std::string out;                 // the demo's folder; each training writes into one of its own below
  std::vector<std::string> flags;  // what all trainings share: --model mid ...
  int n_devices = 1;               // that this machine can run side by side: its GPUs, or else its cores
  std::string device_name;         // "cores"
};

struct Training {
  Run run;
  std::vector<std::string> command;
  std::string out;  // where its result.json will lie
};

/// The baseline first; then task 1, and task 2 on one and on two nodes. Ranks that outnumber the devices would wait
/// for each other, and such a time says nothing: those trainings have the reason in run.not_timed.
std::vector<Training> plan(const Setting& setting);

}  // namespace odori::demo
