// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 11, as the grader writes them and the support code reads them; the known values of these
// cases; and the names of its events and refusals.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace odori {

/// Some iterations of the ranks of a job, each with one stage of a perceptron of these widths.
struct PipelineRun {
  std::vector<std::size_t> widths;
  std::vector<std::size_t> begins;  // of each stage: its first layer
  std::size_t images = 1;           // of a micro-batch
  int micro_batches = 1;
  bool gpipe = true;  // else 1F1B
  int iterations = 1;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PipelineRun, widths, begins, images, micro_batches, gpipe, iterations)

/// ODORI_TEST_CASES holds one of these.
struct PipelineCases {
  bool functions = false;  // first call those that need no other rank, with the values below
  std::vector<PipelineRun> runs;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PipelineCases, functions, runs)

// ---- Values that the functions are called with

inline constexpr std::array tried_ranks{3, 1, 2, 4, 5, 8};           // how many stages; the plainest first
inline constexpr std::array tried_micro_batches{4, 1, 2, 3, 6, 11};  // how many micro-batches
/// No two layers have the same ratios of rows, columns and their product.
inline const std::vector<std::size_t> tried_widths{3072, 300, 70, 500, 65, 10};

// ---- Known values of a run. All are different, small, and have both signs.

/// In (-1, 1), by two indices.
inline float known_value(std::uint64_t a, std::uint64_t b) {
  std::uint64_t mixed = (a + 1) * 0x9E3779B97F4A7C15u ^ (b + 1) * 0xC2B2AE3D27D4EB4Fu;
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<float>(static_cast<double>(mixed >> 40) / 0x1p23 - 1.0);
}
/// Of image `image` of iteration `iteration`.
inline float known_pixel(int iteration, std::size_t image, std::size_t pixel) {
  return known_value(static_cast<std::uint64_t>(iteration) * 1000 + image, pixel);
}
inline int known_label(int iteration, std::size_t image, std::size_t classes) {
  return static_cast<int>((static_cast<std::size_t>(iteration) * 5 + image * 7) % classes);
}
/// Of the flat array, by its position and the inputs of its layer; the bias keeps most ReLUs open.
inline float known_parameter(std::size_t position, std::size_t in, bool is_bias) {
  const float value = known_value(position, 77) / std::sqrt(static_cast<float>(in));
  return is_bias ? 0.2f + 0.1f * value : 1.5f * value;
}
inline constexpr float known_rate = 0.5f;  // of the update between two iterations

// ---- Events

inline constexpr const char *gpipe_order = "gpipe",  // {m, code of each step}
    *one_forward_one_backward_order = "1f1b";        // {rank, p, m, code of each step}
/// Of a step, in an event.
constexpr std::int64_t code_of(bool is_backward, std::int64_t micro_batch) { return 2 * micro_batch + is_backward; }

// ---- Refusals
inline constexpr const char *no_such_rank = "no_such_rank", *no_such_micro_batch = "no_such_micro_batch",
                            *forward_twice = "forward_twice", *no_activations = "no_activations",
                            *other_input = "other_input", *other_gradient = "other_gradient",
                            *loss_elsewhere = "loss_elsewhere";

}  // namespace odori
