// SPDX-License-Identifier: Apache-2.0
// A test case of task 8: what the ranks showed, and what one process computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/findings.h"
#include "sharded_cases.h"

namespace odori::grader {

using Doubles = std::vector<double>;

/// Ranks on these nodes try these cases.
RunPlan trying_sharded(std::vector<int> nodes, const ShardedCases& cases);
ShardedCases sharded_cases_of(const RunPlan& plan);

/// The shard of rank `rank`, of n ranks: as ProcessGroup::shard().
Range sharded_range(std::size_t size, int rank, int n);

/// One call on a layer in a step of part B: an event.
struct LayerCall {
  std::string what;
  int layer = 0;
};

class ShardedCaseSeen {
 public:
  ShardedCaseSeen(const Situation& situation, std::size_t index);

  const ShardedCase& sizes() const { return sizes_; }
  std::size_t parameters() const { return sizes_.parameters(); }
  int ranks() const { return static_cast<int>(evidence_.ranks.size()); }
  /// Part A: this rank's range. Part B: this rank's positions in all parameters, layer by layer.
  Range own(int rank) const { return sharded_range(parameters(), rank, ranks()); }
  std::vector<std::size_t> own_in_layers(int rank) const;

  // ---- What was shown; null or nothing if the rank did not come that far
  const std::vector<float>* clipped(int rank) const { return shown(rank, 0); }
  const std::vector<float>* of_update(int rank, int update, ShownOfUpdate what) const;
  const std::vector<float>* of_step(int rank, int step, ShownOfStep what) const;
  std::optional<std::int64_t> state(int rank) const;
  std::optional<std::int64_t> never_updated(int rank, int update) const;
  std::optional<std::int64_t> updated_twice(int rank, int update) const;
  std::optional<std::int64_t> bytes_of_update(int rank, int update) const;
  std::optional<std::int64_t> bytes_of_step(int rank, int step) const;
  /// All calls of a step so far.
  std::vector<LayerCall> calls(int rank, int step) const;

  // ---- What one process has, of all parameters
  static Doubles initial(std::size_t parameters);
  /// The mean over all ranks, before it is clipped.
  Doubles mean(int update) const;
  /// As Adam gets it.
  const Doubles& clipped_mean(int update) const { return clipped_[static_cast<std::size_t>(update)]; }
  const Doubles& before(int update) const { return trained_[static_cast<std::size_t>(update)]; }
  const Doubles& after(int update) const { return trained_[static_cast<std::size_t>(update) + 1]; }

 private:
  const std::vector<float>* shown(int rank, std::size_t i) const;
  const facts::Event* event(int rank, const char* name, std::size_t n) const;
  std::optional<std::int64_t> number(int rank, const char* name, std::size_t n, std::size_t position = 0) const;
  std::size_t update_of_run(int update) const { return updates_before_ + static_cast<std::size_t>(update); }

  const Evidence& evidence_;
  std::size_t index_, values_before_ = 0, updates_before_ = 0;
  ShardedCase sizes_;
  std::vector<Doubles> clipped_, trained_;  // of each update; before the first update, then after each
};

/// Parameter bytes of rank 0 while each layer is computed in forward and in backward.
ShownFigure parameter_bytes_in_a_step(Runs& runs);

}  // namespace odori::grader
