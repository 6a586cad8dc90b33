// SPDX-License-Identifier: Apache-2.0
// A training run of a server and its workers in virtual time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "asynchronous_support.h"
#include "comm/cost_terms.h"

namespace odori {

/// What happened to a gradient.
struct Update {
  int worker = 0;
  double fetched = 0, arrived = 0;  // seconds: when the worker got its parameters, and when the server got the gradient
  int version = 0;                  // of those parameters, as the worker sent it
  int staleness = 0;
  double rate = 0;
  int new_version = 0;  // the server's, after the update
};

struct VirtualRun {
  std::vector<float> parameters;  // at the start
  int version = 0;
  std::vector<std::vector<double>> seconds;  // of each worker's gradients, one after another; then again
  int gradients = 0;                         // that all workers compute together
  Settings settings;
  std::function<std::vector<float>(int worker, std::span<const float> parameters)> gradient_at;
  std::function<void(const Update&, const Server&, const Gradient&)> applied;
  cost::Link link{0, infinity};  // between the server and each worker
};

/// Runs the program's loops. Returns false if all workers waited although there were gradients to begin. Throws what
/// the program's functions throw.
bool run(const VirtualRun& run, const Functions& functions);

/// Throws an Error that says so.
[[noreturn]] void fail_because_all_wait();

}  // namespace odori
