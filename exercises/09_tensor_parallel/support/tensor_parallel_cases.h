// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 09, as the grader writes them and the support code reads them; what both compute of one;
// and the names of events. No program includes this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "mlp.h"
#include "numbers/random.h"

namespace odori {

struct TensorParallelCase {
  std::size_t in = 0, width = 0, hidden = 0, classes = 0;
  std::size_t images = 0;  // of an update, of all copies together
  int updates = 0;
  std::array<std::size_t, 4> widths() const { return {in, width, hidden, classes}; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorParallelCase, in, width, hidden, classes, images, updates)

/// The results of each test case, in this order; `a` and `b` as make_network() has them. After a layer's weights comes
/// its bias.
enum class Shown {
  a,
  b,
  h,
  y,
  first_gradient,
  a_gradient,
  b_gradient,
  averaged,
  first_trained,
  a_trained,
  b_trained,
  count
};

/// Events. The groups: ranks of the job. The others, of each test case: bytes that the rank sent; the range of images
/// of each update.
inline constexpr const char *tensor_group_made = "tensor_group", *data_group_made = "data_group",
                            *forward_sent = "forward", *backward_sent = "backward", *averages_sent = "averages",
                            *images_taken = "images";
inline constexpr const char *shape_of_a = "shape_of_a", *shape_of_b = "shape_of_b";  // refusals

inline constexpr float case_learning_rate = 0.1f;

/// n normally distributed values.
inline std::vector<float> case_values(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  RandomSequence(seed, RandomUse::synthetic_data).fill_normal(values, 1.0f);
  return values;
}

/// The batch of update 0, 1, ...
inline mlp::Images case_batch(const TensorParallelCase& test_case, std::uint64_t seed, int update) {
  const std::uint64_t own = seed * 8 + static_cast<std::uint64_t>(update);
  mlp::Images batch{case_values(test_case.images * test_case.in, own), {}};
  for (std::size_t i = 0; i < test_case.images; ++i)
    batch.labels.push_back(static_cast<int>((i * 7 + own + i * i) % test_case.classes));
  return batch;
}

/// The gradient with respect to y that backward is tried with.
inline std::vector<float> case_dy(const TensorParallelCase& test_case, std::uint64_t seed) {
  return case_values(test_case.images * test_case.classes, seed * 8 + 7);
}

/// The gradients that are averaged: a power of 4 for each rank of the job, so that a sum shows which ranks are in it.
inline float case_gradient(int rank, std::size_t i) {
  return static_cast<float>(1 + i % 5) * static_cast<float>(1 << (2 * rank));
}

}  // namespace odori
