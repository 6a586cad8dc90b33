// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 06: the input, the parts and the output of a prediction.
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
  int images = 0, batch = 1;   // images of an epoch; images of an iteration, of all devices together
  int per_node = 1;            // devices
  cost::Link within, between;  // nodes
  cost::Measured small, large;
  int percent = 10;  // that an epoch may take longer than its images alone

  /// The slowest link that a ring of n devices uses.
  const cost::Link& wire(int n) const { return n > per_node ? between : within; }
};

/// An all-reduce algorithm that a library could use.
struct Candidate {
  std::string name;
  /// Seconds of an all-reduce of `bytes` bytes between n devices.
  std::function<double(int n, double bytes)> seconds = [](int, double) { return 0.0; };
};

inline constexpr const char* all_reduce_names[] = {"ring", "tree", "hierarchical"};

/// The algorithms for n devices: "ring", by the learner's formula; "tree"; and, with several devices on several nodes,
/// "hierarchical". Their order depends on n.
std::vector<Candidate> candidates_for(const Given& given, int n,
                                      const std::function<double(int n, double bytes, const cost::Link& wire)>& ring);

/// One batch shared by `devices` devices. Seconds; iterations include the exchange.
struct Point {
  int devices = 1;
  double ring = 0, iteration = 0;  // the exchange by the ring, and an iteration with it
  std::string chosen;              // the all-reduce that a library chooses
  double iteration_with_chosen = 0;
};

/// Powers of two and 1.5 times each, up to 1024: of devices in one node, and of full nodes.
inline std::vector<int> device_counts(int per_node) {
  constexpr int most = 1024;
  std::vector<int> steps, counts;
  for (int n = 1; n <= most; n *= 2) {
    steps.push_back(n);
    if (n > 1 && n < most) steps.push_back(n + n / 2);
  }
  for (const int n : steps)
    if (n < per_node) counts.push_back(n);
  for (const int nodes : steps)
    if (nodes * per_node <= most) counts.push_back(nodes * per_node);
  return counts;
}

struct Prediction {
  Given given;
  cost::Compute compute = {}, compute_of_other = {};
  std::vector<Point> curve = {};
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
