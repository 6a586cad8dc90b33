// SPDX-License-Identifier: Apache-2.0
// How the learner's program is run once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

/// A test case: all that differs from run to run. No value but the seed 0 is the default of the program's flag, so that
/// an answer that writes one down, or leaves it out, fails.
struct RunPlan {
  int devices = 1;                        // task 1: --n-gpus
  std::vector<int> nodes;                 // task 2: the node of each rank, as ODORI_NODES has it; empty for task 1
  int batch_size = 4;                     // --batchsize
  float learning_rate = 0.06f;            // --learnrate
  std::optional<std::uint64_t> seed = 0;  // of the program, counted from the data's: --seed; none: 0 itself
  bool sum = false;                       // task 1: --compat chainer
  bool scaled = false;                    // task 2: --scale-learnrate, reached after --warmup-epochs 1
  int accumulate = 1;                     // task 2: --accumulate
  int epochs = 2;                         // --epoch; 0: the program trains nothing, and has no flags for it
  bool snapshots = true;                  // the program can write them
  std::string link = {};                  // simulated between nodes, as ODORI_LINK has it: "1gbit,50us"
  int trainings = 1;                      // that the program makes, one after the other: the last one is judged
  std::size_t most_values = 0;            // that the program shows at once, where they are more than its network has
  std::size_t shows = 0;                  // how many results it shows, if it trains nothing; 0: that isn't looked at
  bool on_devices = true;                 // the program takes --device
  bool seeded = false;                    // the program takes --seed, if it trains nothing: up to 2^30
  std::vector<std::string> flags = {};    // further ones of the program: {"--length", "7"}
  std::string test_cases = {};            // JSON for the exercise's support code, as ODORI_TEST_CASES
  auto operator<=>(const RunPlan&) const = default;
  std::uint64_t programs_seed(std::uint64_t of_data) const {
    const std::uint64_t whole = seed ? of_data + *seed : 0;
    return seeded ? whole % (1 << 30) : whole;
  }
  int ranks() const { return nodes.empty() ? 1 : static_cast<int>(nodes.size()); }
  /// Devices of one process, or ranks.
  int workers() const { return nodes.empty() ? devices : ranks(); }
  /// In an update.
  int images_of_worker() const { return batch_size * accumulate; }
};

/// The flags of a program that is run by this plan. `data`: the folder of its data set; `data_seed`: that set's seed.
std::vector<std::string> flags_of(const RunPlan& plan, const std::string& data, std::uint64_t data_seed);

}  // namespace odori::grader
