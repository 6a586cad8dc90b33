// SPDX-License-Identifier: Apache-2.0
// What exercise 12 showed of a training run, next to when each worker has to fetch and send.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "asynchronous_cases.h"
#include "checks/checks.h"

namespace odori::grader::asynchronous {

/// When a gradient is computed.
struct Turn {
  int worker = 0;
  double fetched = 0, arrived = 0;  // seconds
  std::size_t updates = 0;          // that the server has made when the worker fetches
};

/// Must a worker wait, by the clocks of all?
using MustWait = std::function<bool(int worker, const std::vector<int>& clocks, int bound)>;
bool is_too_far_ahead(int worker, const std::vector<int>& clocks, int bound);

/// Turns in the order of arrival; of gradients that arrive at the same time, the lowest worker's first. Fewer than the
/// run's gradients if all workers wait.
std::vector<Turn> schedule(const QuadraticRun& run, const MustWait& must_wait = is_too_far_ahead);

struct SeenUpdate {
  int worker = 0;
  double fetched = 0, arrived = 0, version = 0, staleness = 0, rate = 0, new_version = 0;
  std::vector<float> gradient, parameters;  // the parameters after the update
};

struct SeenRun {
  QuadraticRun given;
  bool all_wait = false;
  std::vector<SeenUpdate> updates;

  int n_workers() const { return static_cast<int>(given.seconds.size()); }
  /// After the first `updates` updates.
  const std::vector<float>& parameters_after(std::size_t n_updates) const {
    return n_updates == 0 ? given.parameters : updates[n_updates - 1].parameters;
  }
  double version_after(std::size_t n_updates) const {
    return n_updates == 0 ? given.version : updates[n_updates - 1].new_version;
  }
};

/// Nothing if no run can have shown these values.
std::optional<SeenRun> seen_run(const QuadraticRun& given, const std::vector<float>& values);

/// Does the run have these turns?
bool has_turns(const SeenRun& run, const std::vector<Turn>& turns);

/// A test case with the values that were shown of it.
template <typename Case>
struct Shown {
  Case given;
  std::vector<float> values;
};

/// What the program came so far as to show of a run's test cases.
struct AllShown {
  std::vector<SeenRun> runs;
  std::optional<QuadraticRun> other_length;  // the first run that showed parameters or gradients of another length
  std::vector<Shown<WaitCase>> waits;
  std::vector<Shown<RateCase>> rates;
  std::vector<Shown<LogCase>> logs;
};
AllShown all_shown(const Situation& situation);

}  // namespace odori::grader::asynchronous
