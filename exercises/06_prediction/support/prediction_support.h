// SPDX-License-Identifier: Apache-2.0
// What exercise 06 gives its program: what a prediction is made from, what it consists of, and how it is shown.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "comm/cost_terms.h"
#include "model/networks.h"

namespace odori {

/// The input of a prediction.
struct Given {
  NetworkSpec network, other;
  int images = 0, batch = 1;  // images of an epoch; images of an iteration, of all devices together
  cost::Link wire;
  cost::Measured small, large;
  int percent = 10;  // that an epoch may take longer than its images alone
};

/// One batch shared by `devices` devices.
struct Point {
  int devices = 1;
  double exchange = 0, iteration = 0;  // seconds; the iteration includes the exchange
};

/// Powers of two, and 1.5 times each.
inline constexpr int device_counts[] = {1,  2,  3,  4,   6,   8,   12,  16,  24,  32,
                                        48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

struct Prediction {
  std::string network, other_network;
  int images = 0, batch = 1;  // as in Given
  double iterations = 0;      // of an epoch
  cost::Compute compute, compute_of_other;
  std::vector<Point> curve;
  int percent = 10;                                               // as in Given
  double batch_within_percent = 0, batch_within_tenth_of_it = 0;  // larger batches gain less than this
};

/// Shows the predictions that ./odori check asks for and returns true. Returns false if it asks for none.
bool predict_for_check(const std::function<Prediction(const Given&)>& predict);

/// Prints a prediction, with a bar for each number of devices: the speedup over one. Reports all values to the grader.
void show(const Prediction& prediction);

/// Measures an iteration and prints the error of its prediction, or why it cannot be measured.
void show_error(const std::string& what, double predicted, const NetworkSpec& network, int batch, int n_devices,
                const DevicePoolOptions& devices);

}  // namespace odori
