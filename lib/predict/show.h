// What formulas predict of a training, for people and for the grader.
#pragma once

#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "comm/cost_terms.h"
#include "model/networks.h"

namespace odori {

/// One batch shared by so many devices.
struct Point {
  int devices = 1;
  double exchange = 0, iteration = 0;  // seconds; the iteration's hold the exchange's
};

/// Powers of two, and one and a half times each.
inline constexpr int device_counts[] = {1,  2,  3,  4,   6,   8,   12,  16,  24,  32,
                                        48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

struct Prediction {
  std::string network, other_network;
  int images = 0, batch = 1;  // of an epoch; of an iteration, all devices together
  double iterations = 0;      // of an epoch
  cost::Compute compute, compute_of_other;
  std::vector<Point> curve;
  int percent = 10;  // that an epoch may take more than its images alone
  double batch_within_percent = 0, batch_within_tenth_of_it = 0;  // where the gain of larger batches ends
};

/// Prints it, with a bar for each number of devices: how many times as fast as one. The grader gets all numbers.
void show(const Prediction& prediction);

/// Measures an iteration (predict/measure.h), and prints how far off the prediction of it was, or why it can't be
/// measured.
void show_error(const std::string& what, double predicted, const NetworkSpec& network, int batch, int n_devices,
                const DevicePoolOptions& devices);

}  // namespace odori
