#include "checks/statistics.h"

#include <algorithm>
#include <cmath>

namespace odori::grader {
namespace {

// Of a difference of logarithms. The steeper, the sooner few clear pairs decide, and the later many noisy ones; chosen
// by bench/speedup_decisions.
constexpr double steepness = 10, clip = 0.35;

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double hodges_lehmann(const std::vector<double>& values) {
  std::vector<double> means;
  for (auto one = values.begin(); one != values.end(); ++one)
    for (auto other = one; other != values.end(); ++other) means.push_back((*one + *other) / 2);
  return median(std::move(means));
}

double evidence_above(const std::vector<double>& values, double centre) {
  double evidence = 1;
  for (const double value : values)
    evidence *= 2 / (1 + std::exp(-steepness * std::clamp(value - centre, -clip, clip)));
  return evidence;
}

double evidence_below(const std::vector<double>& values, double centre) {
  std::vector<double> mirrored;
  for (const double value : values) mirrored.push_back(-value);
  return evidence_above(mirrored, -centre);
}

Pace pace_of(const std::vector<double>& shares, const PaceTest& test) {
  if (shares.empty()) return Pace::unknown;
  std::vector<double> logs;
  for (const double share : shares) logs.push_back(std::log(share));
  if (median(logs) >= std::log(test.needed))
    return evidence_above(logs, std::log(test.slow)) >= 1 / test.false_pass ? Pace::fast_enough : Pace::unknown;
  return evidence_below(logs, std::log(test.fast)) >= 1 / test.false_fail ? Pace::too_slow : Pace::unknown;
}

}  // namespace odori::grader
