// SPDX-License-Identifier: Apache-2.0
#include "tried_runs.h"

#include <algorithm>

#include "asynchronous_cases.h"
#include "files/json.h"

namespace odori::grader::asynchronous {
namespace {

/// W101 = W100 - rate dW97, W102 = W101 - rate dW98, W103 = W102 - rate dW100, W104 = W103 - rate dW99 (P. Bryzgalov,
/// 2019): staleness 3, 3, 2, 4.
QuadraticRun example(bool rate_by_staleness) {
  return {.curvature = {1, 0.5f, 2},
          .parameters = {1, -2, 3},
          .version = 97,
          .seconds = {{4}, {1, 4}, {3}, {2, 5}},
          .gradients = 7,
          .rate = 0.1,
          .rate_by_staleness = rate_by_staleness};
}

const AsynchronousCases& functions_alone() {
  static const AsynchronousCases cases{.runs = {example(false), example(true)},
                                       .waits = {{{3, 5, 4}, 1},
                                                 {{7, 2, 2, 5}, 2},
                                                 {{2, 9, 4, 3, 3}, 5},
                                                 {{10, 0}, 9},
                                                 {{10, 0}, 10},
                                                 {{4, 4, 3}, 0},
                                                 {{0, 0, 0}, 0},
                                                 {{6}, 0},
                                                 {{8, 8}, 3}},
                                       .rates = {{0.1, 2}, {0.1, 0}, {0.3, 1}, {0.05, 7}, {4, 3}},
                                       .logs = {{{{64, 2.5, 0.1},
                                                  {128, 3.25, 0.5},
                                                  {192, 4.25, 0.2},
                                                  {256, 7, 0.3},
                                                  {320, 7.5, 0.4},
                                                  {384, 9, 0.6},
                                                  {448, 11, 0.55}},
                                                 {0.35, 0.5, 0.1, 0.55, 0.6, 0.05}},
                                                {{{500, 0.25, 0.7}, {1000, 0.5, 0.8}}, {0.9, 0.75, 0.8}},
                                                {{}, {0.5}}}};
  return cases;
}

/// Uneven speeds, ties, bounds, one worker. The slowest worker is the first, the last, or in between.
const AsynchronousCases& speeds() {
  static const AsynchronousCases cases{
      .runs = {{{1, 3}, {2, 1}, 0, {{1}, {2}, {5}}, 17, 0.11, true},
               {{1, 3}, {2, 1}, 0, {{1}, {2}, {5}}, 14, 0.07, false, 1},
               {{0.5f}, {-3}, 5, {{1}, {1}, {1}, {1}}, 11, 0.13, true, 0},
               {{2, 1, 0.25f, 1}, {1, 2, 3, -4}, 1000, {{5}, {1}, {2}}, 20, 0.09, true, 3},
               {{1, 2}, {4, 5}, 3, {{1}}, 5, 0.2, true, 0},
               {{1}, {1}, 0, {{3, 1, 1}, {1, 4}}, 12, 0.05, false, 2}}};
  return cases;
}

/// Constant staleness 0, 1 and 2 at one rate; and 2 with the rate divided by it.
const AsynchronousCases& quadratics() {
  static const AsynchronousCases cases = [] {
    AsynchronousCases some;
    for (const std::size_t n : {1, 2, 3, 3})
      some.runs.push_back({.curvature = {1},
                           .parameters = {1},
                           .seconds = std::vector(n, std::vector{1.0}),
                           .gradients = quadratic_updates,
                           .rate = quadratic_rate,
                           .rate_by_staleness = some.runs.size() == 3});
    return some;
  }();
  return cases;
}

RunPlan plan_of(const AsynchronousCases& cases) {
  std::size_t most = 0;
  for (const QuadraticRun& run : cases.runs)
    most = std::max(most, 1 + ShownUpdate::size(run.curvature.size()) * static_cast<std::size_t>(run.gradients));
  return {.nodes = {0},
          .epochs = 0,
          .most_values = most,
          .shows = cases.size(),
          .on_devices = false,
          .test_cases = json_text(nlohmann::json(cases))};
}
}  // namespace

const std::vector<RunPlan>& plans() {
  static const std::vector<RunPlan> all{plan_of(functions_alone()), plan_of(speeds()), plan_of(quadratics())};
  return all;
}

}  // namespace odori::grader::asynchronous
