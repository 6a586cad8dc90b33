// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 08, as the grader writes them and the support code reads them; the known values of these
// cases; and the names of events and refusals. No program includes this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace odori {

/// Some updates by each part of the exercise, of a model with that many parameters in each layer.
struct ShardedCase {
  std::vector<std::size_t> layers;
  int updates = 2;
  std::size_t parameters() const { return std::accumulate(layers.begin(), layers.end(), std::size_t{0}); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShardedCase, layers, updates)

/// ODORI_TEST_CASES holds one of these.
struct ShardedCases {
  bool reshard = false;  // first call reshard(), for tried_reshards
  std::vector<ShardedCase> cases;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShardedCases, reshard, cases)

// ---- Of reshard(): the shards of `from` ranks become those of each of n ranks.
struct Reshard {
  std::size_t size = 0;
  int from = 1, n = 1;
};
inline constexpr std::array tried_reshards{Reshard{11, 3, 2}, Reshard{14, 3, 2}, Reshard{11, 2, 3},
                                           Reshard{7, 5, 3},  Reshard{6, 1, 4},  Reshard{9, 4, 1}};
/// Element i of all that is saved.
inline float saved_value(std::size_t i) { return static_cast<float>(100 + i * i); }

// ---- Known values. Gradients are small multiples of 1/8, whose sums over ranks are exact in any order: Adam's first
// steps have about the size of the rate even for the smallest gradients, so that rounding would flip them.
inline constexpr double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
inline constexpr float case_rate = 0.01f;

/// In {-8, ..., 8} / 8, by three indices.
inline float known_eighth(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t mixed = (a + 1) * 0x9E3779B97F4A7C15u ^ (b + 1) * 0xC2B2AE3D27D4EB4Fu ^ (c + 1) * 0x165667B19E3779F9u;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<float>(static_cast<int>((mixed >> 40) % 17) - 8) / 8;
}
/// Of the images of one rank, by parameter `i`, in update 0, 1, ...
inline float known_gradient(int rank, std::size_t i, int update) {
  return known_eighth(static_cast<std::uint64_t>(rank), i, static_cast<std::uint64_t>(update));
}
inline float known_parameter_of(std::size_t i) { return 1 + known_eighth(i, 77, 78) / 2; }
/// The gradients that clip() is tried with: element i of all. The norms of shards differ.
inline float clipped_gradient(std::size_t i) { return known_eighth(i, 5, 6) + static_cast<float>(i) / 4; }
inline constexpr float clipped_to = 0.5f;

/// Nothing is clipped in update 0. Then everything is.
inline float max_norm_in(int update) { return update == 0 ? 1e30f : 0.25f; }

/// What a rank shows of a case, in this order: the clipped shard; of each update of part A the gradients that Adam was
/// given, and all parameters after it; of each step of part B all parameters as they were used in forward, layer 0
/// first, and in backward, then this rank's shards of the mean gradients, and its shards of the parameters after the
/// update.
enum class ShownOfUpdate { adam_gradients, parameters, count };
enum class ShownOfStep { in_forward, in_backward, mean_shards, shards, count };

inline std::size_t values_shown(const ShardedCases& all) {
  std::size_t values = 0;
  if (all.reshard)
    for (const Reshard& each : tried_reshards) values += static_cast<std::size_t>(each.n);
  for (const ShardedCase& each : all.cases)
    values += 1 + static_cast<std::size_t>(each.updates) *
                      (static_cast<std::size_t>(ShownOfUpdate::count) + static_cast<std::size_t>(ShownOfStep::count));
  return values;
}

// ---- Events
inline constexpr const char* state_made = "state";          // {elements}
inline constexpr const char* elements_updated = "updated";  // {elements never updated, elements updated more than once}
inline constexpr const char* update_sent = "update_sent";   // {bytes}, in part A
inline constexpr const char* step_begun = "step";           // part B; all until step_ended is of this step
inline constexpr const char* step_ended = "step_ended";     // {bytes sent}
// Within a step: {layer}
inline constexpr const char *gather_started = "gather", *gather_ended = "gathered", *parameters_freed = "free",
                            *layer_forward_computed = "forward", *layer_backward_computed = "backward",
                            *gradients_freed = "free_gradients";

// ---- Refusals; outside_state is an event before it, too: {the first element in this update}
inline constexpr const char *outside_state = "outside_state", *no_such_layer = "no_such_layer",
                            *gather_not_started = "gather_not_started", *not_in_memory = "not_in_memory",
                            *not_waited = "not_waited", *wrong_order = "wrong_order", *no_gradients = "no_gradients",
                            *layers_left_out = "layers_left_out", *gradients_kept = "gradients_kept",
                            *parameters_kept = "parameters_kept";

}  // namespace odori
