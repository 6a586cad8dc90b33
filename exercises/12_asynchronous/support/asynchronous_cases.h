// SPDX-License-Identifier: Apache-2.0
// The test cases of exercise 12, as the grader writes them and the support code reads them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace odori {

/// A quadratic, sum over i of curvature[i] / 2 * parameter[i]^2, trained in virtual time; messages take no time.
struct QuadraticRun {
  std::vector<float> curvature, parameters;  // of each dimension; at the start
  int version = 0;                           // of the server at the start
  std::vector<std::vector<double>> seconds;  // of each worker's gradients, one after another; then again
  int gradients = 0;                         // that all workers compute together
  double rate = 0;
  bool rate_by_staleness = false;
  int bound = 1 << 30;  // none
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(QuadraticRun, curvature, parameters, version, seconds, gradients, rate,
                                   rate_by_staleness, bound)

/// Who waits? Asked for each worker.
struct WaitCase {
  std::vector<int> clocks;
  int bound = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WaitCase, clocks, bound)

struct RateCase {
  double rate = 0;
  int staleness = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RateCase, rate, staleness)

/// Seconds until each of these accuracies. `log` has images, seconds and accuracy of each entry.
struct LogCase {
  std::vector<std::vector<double>> log;
  std::vector<double> accuracies;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LogCase, log, accuracies)

/// What ODORI_TEST_CASES holds. Values are shown once for each, in this order.
struct AsynchronousCases {
  std::vector<QuadraticRun> runs;
  std::vector<WaitCase> waits;
  std::vector<RateCase> rates;
  std::vector<LogCase> logs;
  std::size_t size() const { return runs.size() + waits.size() + rates.size() + logs.size(); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AsynchronousCases, runs, waits, rates, logs)

/// What is shown of a run: 1 if all workers waited although there were gradients to begin, else 0; then, for each
/// applied gradient, 7 values and the gradient's and the parameters' elements.
struct ShownUpdate {
  enum Value { worker, fetched, arrived, version, staleness, rate, new_version, n_values };  // the first two times: s
  static std::size_t size(std::size_t dimensions) { return n_values + 2 * dimensions; }
};

}  // namespace odori
